"""Finding shapes by their first word gives what the pattern alone would."""

from __future__ import annotations

import random
import re

import pytest

from indexer.syntax.anchors import anchors, literals_with, shape
from indexer.syntax.parse import parse, text

SHAPES = [
    shape("get_", r"\w+\(\)\s*\.\s*[a-z]"),
    shape("aa", r"a*"),
    shape("x", r"[ \t]*(?:#.*)?$", flags=re.MULTILINE),
    shape("self", r"\s*\.\s*\w+", before=r"(?<![\w.])"),
    shape("a.b", r"\b", before=r"\b"),
]


@pytest.mark.parametrize("one", SHAPES, ids=lambda one: one.word.decode())
def test_a_shape_finds_what_its_pattern_finds(one) -> None:
    dice = random.Random(7)
    words = ["get_x()", ".", "a", "aa", "x", "self", " ", "\n", "#", "a.b", "axb"]
    for _ in range(300):
        source = "".join(dice.choice(words) for _ in range(40)).encode()
        begin, end = sorted(dice.sample(range(len(source)), 2))
        expected = [match.span() for match in one.pattern.finditer(source, begin, end)]
        assert [match.span() for match in one.found(source, begin, end)] == expected


def test_comments_and_strings_are_no_code_but_the_fields_of_an_f_string_are() -> None:
    source = b'self.a  # self.b\ns = "self.c"\nf"{self.d} self.e"\n'
    found = anchors(shape("self", r"\.\w"), source, parse(source).root_node)
    assert [match[0] for match, _ in found] == [b"self.a", b"self.d"]


def test_literals_are_found_by_a_word_alone_and_as_the_whole_they_make() -> None:
    source = b'a = ("old is " "removed")\n# removed\nf"{g(\'removed\')}"\nb = "kept"\n'
    found = literals_with((b"removed",), source, parse(source).root_node)
    assert [text(node) for node in found] == [
        '"old is " "removed"',
        '"removed"',
        "f\"{g('removed')}\"",
        "'removed'",
    ]
