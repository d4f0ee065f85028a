"""Expression text as small tuples, read only when inference asks for it.

``("name", x)`` · ``("attr", base, x)`` · ``("call", callee, args)`` with args ``(keyword | "" | "*" | "**",
expr)`` · ``("sub", base, index)`` · ``("const", value)`` · ``("str", text)`` · ``("seq", kind, items)`` ·
``("dict", ((key, value), …))`` · ``("if", test, body, other)`` · ``("bool", "and" | "or", items)`` ·
``("not", x)`` · ``("cmp", operators, operands)`` · ``("lambda", parameters, body)`` · ``("comp", element)`` ·
``("await", x)`` · ``("other", text)``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from indexer.syntax.parse import parse as parse_source

Expr = tuple[Any, ...]

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")


@lru_cache(maxsize=400_000)
def parse(text: str) -> Expr:
    """Return the expression that ``text`` is."""
    if _DOTTED.match(text):
        first, *rest = text.split(".")
        if first in ("True", "False", "None"):
            return ("const", {"True": True, "False": False, "None": None}[first])
        expr: Expr = ("name", first)
        for name in rest:
            expr = ("attr", expr, name)
        return expr
    source = f"({text})".encode()
    node = parse_source(source).root_node
    while node.type in ("module", "expression_statement", "parenthesized_expression"):
        if node.named_child_count != 1:
            return ("other", text)
        node = node.named_children[0]
    return _expr(node, source)


@lru_cache(maxsize=400_000)
def arguments(text: str) -> tuple[tuple[str, Expr], ...]:
    """Return the arguments of an argument list's text, ``(a, k=b, *c, **d)``."""
    if text == "()":
        return ()
    node = parse(f"f{text}")
    return node[2] if node[0] == "call" else (("", ("comp", parse(text))),)


def _expr(node: Any, source: bytes) -> Expr:
    handler = _HANDLERS.get(node.type)
    return handler(node, source) if handler else ("other", _raw(node, source))


def _raw(node: Any, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _children(node: Any) -> list[Any]:
    return [child for child in node.named_children if child.type != "comment"]


def _call(node: Any, source: bytes) -> Expr:
    listed = node.child_by_field_name("arguments")
    callee = _expr(node.child_by_field_name("function"), source)
    if listed.type != "argument_list":
        return ("call", callee, (("", ("comp", _expr(listed, source))),))
    found: list[tuple[str, Expr]] = []
    for child in _children(listed):
        if child.type == "keyword_argument":
            name = _raw(child.child_by_field_name("name"), source)
            found.append((name, _expr(child.child_by_field_name("value"), source)))
        elif child.type == "list_splat":
            found.append(("*", _expr(child.named_children[0], source)))
        elif child.type == "dictionary_splat":
            found.append(("**", _expr(child.named_children[0], source)))
        else:
            found.append(("", _expr(child, source)))
    return ("call", callee, tuple(found))


def _comparison(node: Any, source: bytes) -> Expr:
    operands = tuple(_expr(child, source) for child in _children(node))
    operators = tuple(child.type for child in node.children if not child.is_named)
    return ("cmp", tuple(_merge_operators(operators)), operands)


def _merge_operators(operators: tuple[str, ...]) -> list[str]:
    """``not in`` and ``is not`` may come as one token or as two, by grammar release."""
    merged: list[str] = []
    for operator in operators:
        if merged and (merged[-1], operator) in (("not", "in"), ("is", "not")):
            merged[-1] = f"{merged[-1]} {operator}"
        else:
            merged.append(operator)
    return merged


def _boolean(node: Any, source: bytes) -> Expr:
    operator = node.child_by_field_name("operator").type
    items: list[Expr] = []
    for side in ("left", "right"):
        item = _expr(node.child_by_field_name(side), source)
        items.extend(item[2] if item[:2] == ("bool", operator) else (item,))
    return ("bool", operator, tuple(items))


def _dictionary(node: Any, source: bytes) -> Expr:
    pairs = []
    for child in _children(node):
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            pairs.append((_expr(key, source), _expr(value, source)))
    return ("dict", tuple(pairs))


def _lambda(node: Any, source: bytes) -> Expr:
    listed = node.child_by_field_name("parameters")
    names = tuple(_raw(child, source).split("=")[0].strip() for child in _children(listed)) if listed else ()
    return ("lambda", names, _expr(node.child_by_field_name("body"), source))


def _ternary(node: Any, source: bytes) -> Expr:
    body, test, other = _children(node)[:3]
    return ("if", _expr(test, source), _expr(body, source), _expr(other, source))


def _subscript(node: Any, source: bytes) -> Expr:
    indices = node.children_by_field_name("subscript")
    parts = tuple(_expr(child, source) for child in indices)
    index = parts[0] if len(parts) == 1 else ("seq", "tuple", parts)
    return ("sub", _expr(node.child_by_field_name("value"), source), index)


def _generic_type(node: Any, source: bytes) -> Expr:
    """``List[int]`` in a type position is not a subscript to the grammar, but is one to us."""
    base, parameters = _children(node)[:2]
    parts = tuple(_expr(child, source) for child in _children(parameters))
    return ("sub", _expr(base, source), parts[0] if len(parts) == 1 else ("seq", "tuple", parts))


def _sequence(kind: str) -> Any:
    return lambda node, source: ("seq", kind, tuple(_expr(child, source) for child in _children(node)))


def _single(node: Any, source: bytes) -> Expr:
    return _expr(_children(node)[0], source)


def _integer(node: Any, source: bytes) -> Expr:
    try:
        return ("const", int(_raw(node, source), 0))
    except ValueError:
        return ("other", _raw(node, source))


def _operator(node: Any, source: bytes) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    return ("op", node.child_by_field_name("operator").type, _expr(left, source), _expr(right, source))


_HANDLERS: dict[str, Any] = {
    "identifier": lambda node, source: ("name", _raw(node, source)),
    "attribute": lambda node, source: (
        "attr",
        _expr(node.child_by_field_name("object"), source),
        _raw(node.child_by_field_name("attribute"), source),
    ),
    "call": _call,
    "subscript": _subscript,
    "generic_type": _generic_type,
    "true": lambda node, source: ("const", True),
    "false": lambda node, source: ("const", False),
    "none": lambda node, source: ("const", None),
    "integer": _integer,
    "string": lambda node, source: ("str", _raw(node, source).strip("rbfuRBFU").strip("\"'")),
    "tuple": _sequence("tuple"),
    "expression_list": _sequence("tuple"),
    "pattern_list": _sequence("tuple"),
    "tuple_pattern": _sequence("tuple"),
    "list": _sequence("list"),
    "set": _sequence("set"),
    "dictionary": _dictionary,
    "conditional_expression": _ternary,
    "boolean_operator": _boolean,
    "binary_operator": _operator,
    "not_operator": lambda node, source: ("not", _expr(node.child_by_field_name("argument"), source)),
    "comparison_operator": _comparison,
    "lambda": _lambda,
    "await": lambda node, source: ("await", _single(node, source)),
    "parenthesized_expression": _single,
    "type": _single,
    "named_expression": lambda node, source: _expr(node.child_by_field_name("value"), source),
    "list_comprehension": lambda node, source: ("comp", _expr(node.child_by_field_name("body"), source)),
    "generator_expression": lambda node, source: ("comp", _expr(node.child_by_field_name("body"), source)),
    "set_comprehension": lambda node, source: ("comp", _expr(node.child_by_field_name("body"), source)),
    "dictionary_comprehension": lambda node, source: (
        "comp",
        _expr(node.child_by_field_name("body").child_by_field_name("value"), source),
    ),
}


def last_name(expr: Expr) -> str:
    """Return the last identifier of a dotted expression, call or subscript; empty when there is none."""
    kind = expr[0]
    if kind == "name":
        return expr[1]
    if kind == "attr":
        return expr[2]
    if kind in ("call", "sub"):
        return last_name(expr[1])
    return ""
