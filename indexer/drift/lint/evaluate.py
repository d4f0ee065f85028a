"""Evaluating the expressions of a rehearsal on what a launch file tells.

A value that isn't known is ``...`` (as in the expressions themselves) and passes through every operation
that can't do without it: the answer is certain or it is ``...``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from indexer.knowledge.rehearsal import FUNCTIONS, KINDS, METHODS

State = Mapping[str, Any]
"""Field → value; a field that isn't there is not known."""
Evaluate = Callable[[State], Any]


class Untold(str):
    """A text that is there, though the file does not tell it: it is not None, and that is all."""

    __slots__ = ()


class Crash(Exception):
    """SGLang's own Python would raise here: ``None > 1``."""


_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_CALCULATED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}


@cache
def compiled(text: str) -> Evaluate:
    """Return the function that gives the value of an expression of the rehearsal."""
    return _function(ast.parse(text, mode="eval").body)


@cache
def condition(text: str) -> Evaluate:
    """Return the function that gives an expression's truth, which may be known where its value isn't."""
    return _truth(ast.parse(text, mode="eval").body)


@cache
def names_in(text: str) -> frozenset[str]:
    """Return the fields that an expression names."""
    return frozenset(
        node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)
    ) - {*FUNCTIONS, *KINDS, "isinstance"}


def _function(node: ast.expr) -> Evaluate:
    return _COMPILERS.get(type(node), _unknown)(node)


def _truth(node: ast.expr) -> Evaluate:
    """Compile what only has to hold or not: behind an unknown part of an ``or`` its truth may be certain."""
    return _every(node, truth=True) if isinstance(node, ast.BoolOp) else _function(node)


def _unknown(node: ast.expr) -> Evaluate:
    return lambda state: ...


def _constant(node: Any) -> Evaluate:
    value = node.value
    return lambda state: value


def _name(node: Any) -> Evaluate:
    name = node.id
    return lambda state: state.get(name, ...)


def _attempt(function: Callable[..., Any], *values: Any) -> Any:
    try:
        return function(*values)
    except (TypeError, ZeroDivisionError, AttributeError) as error:
        raise Crash(type(error).__name__) from error
    except (ValueError, OverflowError):
        return ...


def _every(node: Any, truth: bool = False) -> Evaluate:
    """``and`` / ``or``: what decides, wherever it stands, decides; else one unknown part leaves it open.

    Behind something unknown the value isn't the one that decides, but its ``truth`` is.
    """
    parts = [_truth(one) if truth else _function(one) for one in node.values]
    stops = isinstance(node.op, ast.Or)

    def evaluate(state: State) -> Any:
        value: Any = not stops
        unknown = False
        for part in parts:
            try:
                value = part(state)
            except Crash:
                if not unknown:
                    raise
                continue  # what stands before it may spare SGLang the crash
            if value is ...:
                unknown = True
            elif bool(value) is stops:
                if not unknown:
                    return value
                if truth:
                    return stops
        return ... if unknown else value

    return evaluate


def _unary(node: Any) -> Evaluate:
    negate = isinstance(node.op, ast.Not)
    operand = _truth(node.operand) if negate else _function(node.operand)

    def evaluate(state: State) -> Any:
        value = operand(state)
        if value is ...:
            return ...
        return not value if negate else _attempt(operator.neg, value)

    return evaluate


def _calculation(node: Any) -> Evaluate:
    left, right = _function(node.left), _function(node.right)
    calculate = _CALCULATED.get(type(node.op))

    def evaluate(state: State) -> Any:
        one, other = left(state), right(state)
        if one is ... or other is ... or calculate is None:
            return ...
        if not isinstance(one, int | float | None) or not isinstance(other, int | float | None):
            return ...  # texts and lists: their length is the file's to choose
        return _attempt(calculate, one, other)

    return evaluate


def _comparison(node: Any) -> Evaluate:
    if len(node.ops) == 1:
        return _one_comparison(node)
    sides = [_function(one) for one in (node.left, *node.comparators)]
    tests = [_COMPARED[type(one)] for one in node.ops]

    def evaluate(state: State) -> Any:
        values = [side(state) for side in sides]
        if any(value is ... for value in values):
            return ...
        if None not in values and any(isinstance(value, Untold) for value in values):
            return ...
        return all(
            _attempt(test, one, other) for test, one, other in zip(tests, values, values[1:], strict=False)
        )

    return evaluate


def _one_comparison(node: Any) -> Evaluate:
    """What ``_comparison`` does, for nearly all of them: most of a rehearsal's time goes here."""
    test, left, right = _COMPARED[type(node.ops[0])], _function(node.left), _function(node.comparators[0])

    def evaluate(state: State) -> Any:
        one, other = left(state), right(state)
        if one is ... or other is ...:
            return ...
        if (type(one) is Untold or type(other) is Untold) and one is not None and other is not None:
            return ...
        try:
            return bool(test(one, other))
        except (TypeError, ZeroDivisionError, AttributeError) as error:
            raise Crash(type(error).__name__) from error
        except (ValueError, OverflowError):
            return ...

    return evaluate


def _choice(node: Any) -> Evaluate:
    test, body, orelse = _truth(node.test), _function(node.body), _function(node.orelse)

    def evaluate(state: State) -> Any:
        value = test(state)
        return ... if value is ... else body(state) if value else orelse(state)

    return evaluate


def _sequence(node: Any) -> Evaluate:
    items = [_function(one) for one in node.elts]
    kind: Callable[[list[Any]], Any] = list if isinstance(node, ast.List) else tuple
    if all(isinstance(one, ast.Constant) and one.value is not ... for one in node.elts):
        constant = kind([one.value for one in node.elts])
        return lambda state: constant

    def evaluate(state: State) -> Any:
        values = [item(state) for item in items]
        return ... if any(value is ... for value in values) else kind(values)

    return evaluate


def _call(node: Any) -> Evaluate:
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in METHODS:
        owner, name = _function(function.value), function.attr
        arguments = [_function(one) for one in node.args]

        def method(state: State) -> Any:
            value, given = owner(state), [one(state) for one in arguments]
            if value is None:
                raise Crash("AttributeError")
            if not isinstance(value, str) or any(one is ... for one in given):
                return ...
            return _attempt(getattr(value, name), *given)

        return method
    if not isinstance(function, ast.Name):
        return _unknown(node)
    if function.id == "isinstance":
        value, kinds = _function(node.args[0]), node.args[1]
        names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
        named = tuple(KINDS[one.id] for one in names if isinstance(one, ast.Name))

        def is_instance(state: State) -> Any:
            found = value(state)
            return ... if found is ... else isinstance(found, named)

        return is_instance
    called, argument = FUNCTIONS[function.id], _function(node.args[0])

    def call(state: State) -> Any:
        found = argument(state)
        return ... if found is ... else _attempt(called, found)

    return call


_COMPILERS: dict[type[ast.expr], Callable[[Any], Evaluate]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BoolOp: _every,
    ast.UnaryOp: _unary,
    ast.BinOp: _calculation,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Call: _call,
}
