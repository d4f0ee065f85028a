"""Errors of argparse, taken apart: those that this Python's own argparse writes, and as they are pasted."""

from __future__ import annotations

import argparse

import pytest

from indexer.search.parser_errors import ParserError, parser_error


def refusal(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    parser = argparse.ArgumentParser(prog="launch_server.py")
    parser.add_argument("--model-path", "--model", required=True)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--stages", choices=["ONE", "TWO"])
    with pytest.raises(SystemExit):
        parser.parse_args(words)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "options", "value", "type_name"),
    [
        (["--model", "m", "--stages", "TWO4"], (("--stages",),), "TWO4", None),
        (["--model", "m", "--stages", "a b"], (("--stages",),), "a b", None),
        (["--model", "m", "--steps", "x"], (("--steps",),), "x", "int"),
        (["--model", "m", "--steps", ""], (("--steps",),), "", "int"),
        (["--model", "m", "--steps"], (("--steps",),), None, None),
        (["--model", "m", "--other", "4", "--more=5"], (("--other",), ("--more",)), None, None),
        (["--model", "m", "--st", "4"], (("--st",),), None, None),
        (["--steps", "4"], (("--model-path", "--model"),), None, None),
    ],
)
def test_what_argparse_writes(
    words: list[str],
    options: tuple[tuple[str, ...], ...],
    value: str | None,
    type_name: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = parser_error(refusal(*words, capsys=capsys))
    assert found is not None
    assert (found.options, found.value, found.type) == (options, value, type_name)


@pytest.mark.parametrize(
    "text",
    [
        "argument --steps: invalid int value: 'x'",
        "sglang-1  | launch_server.py: error: argument --steps: invalid int value: 'x'\nsglang-1 exited",
        "launch_server.py: error: argument\n  --steps: invalid int value: 'x'",
    ],
)
def test_as_it_is_pasted(text: str) -> None:
    assert parser_error(text) == ParserError(
        "argument --steps: invalid int value: 'x'", (("--steps",),), "x", "int"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "error: unrecognized arguments: 4",
        "the argument --steps: is fine",
        "ValueError: unrecognized arguments",
        "error: argument subcommand: invalid choice: 'x'",
    ],
)
def test_what_is_no_error_about_an_option(text: str) -> None:
    assert parser_error(text) is None
