"""Texts of expressions as the tuples that inference reads."""

from __future__ import annotations

import pytest

from indexer.syntax.callgraph.expressions import arguments, last_name, parse

X, Y = ("name", "x"), ("name", "y")

EXPRESSIONS = {
    "x": X,
    "x.y.z": ("attr", ("attr", X, "y"), "z"),
    "None": ("const", None),
    "0x10": ("const", 16),
    "1.5": ("other", "1.5"),
    "-1": ("other", "-1"),
    "'a' 'b'": ("str", "ab"),
    "f'{x} b'": ("str", "{x} b"),
    "x[0]": ("sub", X, ("const", 0)),
    "x[0, y]": ("sub", X, ("seq", "tuple", (("const", 0), Y))),
    "x[1:]": ("sub", X, ("other", "1:")),
    "x or (y or 1)": ("bool", "or", (X, Y, ("const", 1))),
    "not x": ("not", X),
    "x not in y": ("cmp", ("not in",), (X, Y)),
    "0 < x <= y": ("cmp", ("<", "<="), (("const", 0), X, Y)),
    "x if y else 1": ("if", Y, X, ("const", 1)),
    "x | y": ("op", "|", X, Y),
    "{'a': x, **y}": ("dict", ((("str", "a"), X),)),
    "x, y": ("seq", "tuple", (X, Y)),
    "[x for y in z]": ("comp", X),
    "{y: x for y in z}": ("comp", X),
    "lambda a, *b, c=1: x": ("lambda", ("a", "*b", "c"), X),
    "await x()": ("await", ("call", X, ())),
    "(n := x)": X,
    "x ==": ("other", "x =="),
    "λ[é:]": ("sub", ("name", "λ"), ("other", "é:")),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_text_is_read_as_tuple(text: str) -> None:
    assert parse(text) == EXPRESSIONS[text]


def test_arguments_keep_their_order_and_kinds() -> None:
    assert arguments("(x, k=y, *x, **y)") == (("", X), ("k", Y), ("*", X), ("**", Y))
    assert arguments("()") == ()


def test_generator_argument_is_one_container() -> None:
    assert arguments("(x for x in y)") == (("", ("comp", X)),)


def test_last_name_looks_through_calls_and_subscripts() -> None:
    assert last_name(parse("a.b(c)[0]")) == "b"
    assert last_name(parse("1")) == ""
