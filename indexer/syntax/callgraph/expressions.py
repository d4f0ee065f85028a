"""Expression text as small tuples, read only when inference asks for it.

``("name", x)`` · ``("attr", base, x)`` · ``("call", callee, args)`` with args ``(keyword | "" | "*" | "**",
expr)`` · ``("sub", base, index)`` · ``("const", value)`` · ``("str", text)`` · ``("seq", kind, items)`` ·
``("dict", ((key, value), …))`` · ``("if", test, body, other)`` · ``("bool", "and" | "or", items)`` ·
``("not", x)`` · ``("cmp", operators, operands)`` · ``("lambda", parameters, body)`` · ``("comp", element)`` ·
``("op", operator, left, right)`` · ``("await", x)`` · ``("other", text)``.

Python's own parser reads them: a survey asks for tens of thousands of short texts, and starting tree-sitter
for each of those takes several times as long. What is no expression of Python's is ``other``.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import Any

Expr = tuple[Any, ...]

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_NAMED = {"True": True, "False": False, "None": None}


@lru_cache(maxsize=400_000)
def parse(text: str) -> Expr:
    """Return the expression that ``text`` is."""
    if text.isidentifier():
        return ("const", _NAMED[text]) if text in _NAMED else ("name", text)
    if _DOTTED.match(text):
        first, *rest = text.split(".")
        expr: Expr = ("name", first)
        for name in rest:
            expr = ("attr", expr, name)
        return expr
    source = f"({text})"
    try:
        tree = _compiled(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ("other", text)
    return _Reader(source).read(tree)


def _compiled(source: str) -> ast.expr:
    if "\\" not in source:
        return ast.parse(source, mode="eval").body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes are SGLang's own business
        return ast.parse(source, mode="eval").body


@lru_cache(maxsize=400_000)
def arguments(text: str) -> tuple[tuple[str, Expr], ...]:
    """Return the arguments of an argument list's text, ``(a, k=b, *c, **d)``."""
    if text == "()":
        return ()
    node = parse(f"f{text}")
    return node[2] if node[0] == "call" else ()


_OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.FloorDiv: "//",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.And: "and",
    ast.Or: "or",
}


class _Reader:
    """Turns the nodes of one text into tuples."""

    def __init__(self, source: str) -> None:
        self.source = source if source.isascii() else source.encode()

    def read(self, node: ast.AST) -> Expr:
        handler = _HANDLERS.get(type(node))
        return handler(self, node) if handler is not None else ("other", self._raw(node))

    def _raw(self, node: Any) -> str:
        """Return the node's text; an expression's own text has no line breaks."""
        part = self.source[node.col_offset : node.end_col_offset]
        return part if isinstance(part, str) else part.decode()

    def name(self, node: ast.Name) -> Expr:
        return ("name", node.id)

    def attribute(self, node: ast.Attribute) -> Expr:
        return ("attr", self.read(node.value), node.attr)

    def call(self, node: ast.Call) -> Expr:
        found: list[tuple[int, str, Expr]] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                found.append((argument.col_offset, "*", self.read(argument.value)))
            else:
                found.append((argument.col_offset, "", self.read(argument)))
        for keyword in node.keywords:
            found.append((keyword.col_offset, keyword.arg or "**", self.read(keyword.value)))
        if node.keywords:  # a starred argument may stand behind keywords
            found.sort(key=lambda one: one[0])
        return ("call", self.read(node.func), tuple((name, expr) for _, name, expr in found))

    def subscript(self, node: ast.Subscript) -> Expr:
        return ("sub", self.read(node.value), self.read(node.slice))

    def constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if isinstance(value, str):
            return ("str", value)
        if value is None or isinstance(value, int):
            return ("const", value)
        if isinstance(value, bytes):
            return ("str", value.decode("latin-1"))
        return ("other", self._raw(node))

    def formatted(self, node: ast.JoinedStr) -> Expr:
        return ("str", self._raw(node).lstrip("rbfuRBFU").strip("\"'"))

    def items(self, node: ast.Tuple | ast.List | ast.Set) -> Expr:
        return ("seq", type(node).__name__.lower(), tuple(map(self.read, node.elts)))

    def dictionary(self, node: ast.Dict) -> Expr:
        pairs = zip(node.keys, node.values, strict=True)
        return ("dict", tuple((self.read(key), self.read(value)) for key, value in pairs if key is not None))

    def conditional(self, node: ast.IfExp) -> Expr:
        return ("if", self.read(node.test), self.read(node.body), self.read(node.orelse))

    def boolean(self, node: ast.BoolOp) -> Expr:
        operator = _OPERATORS[type(node.op)]
        items: list[Expr] = []
        for value in node.values:
            item = self.read(value)
            items.extend(item[2] if item[:2] == ("bool", operator) else (item,))
        return ("bool", operator, tuple(items))

    def binary(self, node: ast.BinOp) -> Expr:
        return ("op", _OPERATORS[type(node.op)], self.read(node.left), self.read(node.right))

    def unary(self, node: ast.UnaryOp) -> Expr:
        return (
            ("not", self.read(node.operand)) if isinstance(node.op, ast.Not) else ("other", self._raw(node))
        )

    def comparison(self, node: ast.Compare) -> Expr:
        operators = tuple(_OPERATORS[type(one)] for one in node.ops)
        return ("cmp", operators, tuple(map(self.read, (node.left, *node.comparators))))

    def function(self, node: ast.Lambda) -> Expr:
        listed = node.args
        names = [one.arg for one in (*listed.posonlyargs, *listed.args)]
        names += [f"*{listed.vararg.arg}"] if listed.vararg else []
        names += [one.arg for one in listed.kwonlyargs]
        names += [f"**{listed.kwarg.arg}"] if listed.kwarg else []
        return ("lambda", tuple(names), self.read(node.body))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Expr:
        return ("comp", self.read(node.elt))

    def mapping(self, node: ast.DictComp) -> Expr:
        return ("comp", self.read(node.value))

    def awaited(self, node: ast.Await) -> Expr:
        return ("await", self.read(node.value))

    def bound(self, node: ast.NamedExpr) -> Expr:
        return self.read(node.value)


_HANDLERS: dict[type, Any] = {
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Call: _Reader.call,
    ast.Subscript: _Reader.subscript,
    ast.Constant: _Reader.constant,
    ast.JoinedStr: _Reader.formatted,
    ast.Tuple: _Reader.items,
    ast.List: _Reader.items,
    ast.Set: _Reader.items,
    ast.Dict: _Reader.dictionary,
    ast.IfExp: _Reader.conditional,
    ast.BoolOp: _Reader.boolean,
    ast.BinOp: _Reader.binary,
    ast.UnaryOp: _Reader.unary,
    ast.Compare: _Reader.comparison,
    ast.Lambda: _Reader.function,
    ast.ListComp: _Reader.comprehension,
    ast.GeneratorExp: _Reader.comprehension,
    ast.SetComp: _Reader.comprehension,
    ast.DictComp: _Reader.mapping,
    ast.Await: _Reader.awaited,
    ast.NamedExpr: _Reader.bound,
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
