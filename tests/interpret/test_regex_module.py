"""The third-party ``regex``: what ``re`` would give, or unknown."""

from __future__ import annotations

import re

import pytest

from indexer.interpret.regex_module import regex_intrinsics
from indexer.interpret.unknown import Unknown

CALLS = regex_intrinsics()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("match", (r"^[*\-M]+$", "M-M*")),
        ("search", (r"layers\.(\d+)\.", "model.layers.12.mlp")),
        ("findall", (r"\w+", "a b")),
        ("sub", (r"\s+", " ", "a   b")),
    ],
)
def test_plain_patterns_are_res(name, arguments):
    found, wanted = CALLS[f"regex.{name}"](*arguments), getattr(re, name)(*arguments)
    assert (
        (found.span(), found.groups()) == (wanted.span(), wanted.groups())
        if name
        in (
            "match",
            "search",
        )
        else found == wanted
    )


@pytest.mark.parametrize("pattern", [r"\p{L}+", r"(?V1)a", r"(?:a){e<=1}", r"[[a-z]--[b]]", r"(?|a|b)", "("])
def test_patterns_of_its_own_are_unknown(pattern):
    assert isinstance(CALLS["regex.match"](pattern, "a"), Unknown)
