"""Expressions as one-line text with what they read, loop variables replaced by what they stand for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from tree_sitter import Node

from indexer.extract.rules.facts import Expr
from indexer.syntax.parse import text

Bindings = Mapping[str, Node]
"""Names that stand for a literal element while a loop over a literal is unrolled."""
NO_BINDINGS: Bindings = MappingProxyType({})

LITERALS = {"string", "concatenated_string", "integer", "float", "true", "false", "none"}
_COMPOSITE = {"boolean_operator", "not_operator", "comparison_operator", "conditional_expression", "lambda"}
_OPEN_SPACE = re.compile(r"([(\[{])\s+")
_CLOSE_SPACE = re.compile(r",?\s+([)\]}])")
_LONGEST_TEXT = 600


def unwrap(node: Node) -> Node:
    """Return the node inside redundant parentheses."""
    while node.type == "parenthesized_expression":
        inner = [child for child in node.named_children if child.type != "comment"]
        if len(inner) != 1:
            break
        node = inner[0]
    return node


def bound(node: Node, bindings: Bindings) -> Node:
    """Return what a name (or a call of a name bound to a lambda) stands for, else the node itself."""
    node = unwrap(node)
    if not bindings:
        return node
    for _ in range(5):
        node = unwrap(node)
        if node.type == "identifier" and (target := bindings.get(text(node))) is not None:
            node = target
        elif node.type == "call" and (body := _called_lambda(node, bindings)) is not None:
            node = body
        else:
            break
    return node


def _called_lambda(node: Node, bindings: Bindings) -> Node | None:
    function = node.child_by_field_name("function")
    if function is None or function.type != "identifier":
        return None
    target = bindings.get(text(function))
    target = unwrap(target) if target is not None else None
    return target.child_by_field_name("body") if target is not None and target.type == "lambda" else None


def render(node: Node, bindings: Bindings = NO_BINDINGS) -> str:
    """Return the expression on one line, without comments, bound names replaced."""
    return _tidy(_raw(unwrap(node), bindings))


def _tidy(raw: str) -> str:
    if "\n" in raw:
        raw = _CLOSE_SPACE.sub(r"\1", _OPEN_SPACE.sub(r"\1", " ".join(raw.split())))
    return raw if len(raw) <= _LONGEST_TEXT else raw[: _LONGEST_TEXT - 1] + "…"


def _raw(node: Node, bindings: Bindings) -> str:
    whole = text(node)
    edits = list(_edits(node, bindings)) if bindings or "#" in whole else []
    if not edits:
        return whole
    source, start = node.text or b"", node.start_byte
    pieces, last = [], 0
    for first, end, replacement in edits:
        pieces.append(source[last : first - start].decode("utf-8", "replace"))
        pieces.append(replacement)
        last = end - start
    pieces.append(source[last:].decode("utf-8", "replace"))
    return "".join(pieces)


def _edits(node: Node, bindings: Bindings) -> Iterator[tuple[int, int, str]]:
    if node.type == "comment":
        yield node.start_byte, node.end_byte, ""
        return
    target = bound(node, bindings)
    if target != node and node.type in ("identifier", "call"):
        inner = _raw(target, {})
        yield node.start_byte, node.end_byte, f"({inner})" if target.type in _COMPOSITE else inner
        return
    if (read := attribute_by_name(node, bindings)) is not None:
        yield node.start_byte, node.end_byte, read
        return
    for child in _operands(node):
        yield from _edits(child, bindings)


def _operands(node: Node) -> list[Node]:
    """Return the children that are values: not attribute names, not keyword names."""
    if node.type == "attribute":
        return node.named_children[:1]
    if node.type == "keyword_argument":
        return node.named_children[1:]
    return node.named_children


def attribute_by_name(node: Node, bindings: Bindings) -> str | None:
    """Return ``x.field`` for ``getattr(x, "field")``, the name literal or bound to a literal."""
    if node.type != "call":
        return None
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or text(function) not in ("getattr", "hasattr"):
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    if len(given) < 2:
        return None
    name = literal(bound(given[1], bindings))
    if not isinstance(name, str) or not name.isidentifier() or text(function) == "hasattr":
        return None
    return f"{_raw(given[0], bindings)}.{name}"


def literal(node: Node) -> object:
    """Return the value of a constant node, or ``...`` for anything that is not one."""
    if node.type not in LITERALS and not (node.type == "unary_operator" and node.named_child_count == 1):
        return ...
    return _value(text(node))


@lru_cache(maxsize=20_000)
def _value(written: str) -> object:
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return ...


def chain(node: Node) -> str | None:
    """Return the dotted form of a read: ``self.x``, ``get_spec().topk``, ``a.b[].c``; None if not one."""
    node = unwrap(node)
    if node.type == "identifier":
        return text(node)
    if node.type == "attribute":
        owner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        head = chain(owner) if owner is not None else None
        return f"{head}.{text(name)}" if head and name is not None else None
    if node.type == "call":
        function = node.child_by_field_name("function")
        head = chain(function) if function is not None else None
        return f"{head}()" if head else None
    if node.type == "subscript":
        value = node.child_by_field_name("value")
        head = chain(value) if value is not None else None
        return f"{head}[]" if head else None
    return None


class _Reads:
    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.chains: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.calls: dict[str, None] = {}
        self.strings: dict[str, None] = {}

    def visit(self, node: Node) -> None:
        target = bound(node, self.bindings)
        if target != unwrap(node):
            node, bindings = target, self.bindings
            self.bindings = {}
            self.visit(node)
            self.bindings = bindings
            return
        kind = node.type
        if kind == "identifier":
            self.names[text(node)] = None
            return
        if kind == "attribute":
            if (dotted := chain(node)) is not None:
                self.chains[dotted] = None
            self._inside(node)
            return
        if kind == "call":
            self._call(node)
            return
        if kind in ("string", "concatenated_string") and isinstance(value := literal(node), str):
            self.strings[value] = None
            return
        for child in _operands(node):
            self.visit(child)

    def _inside(self, node: Node) -> None:
        """Visit what a dotted chain hides: its root name, call arguments, subscripts."""
        while node.type in ("attribute", "parenthesized_expression") and node.named_children:
            node = node.named_children[0]
        self.visit(node)

    def _call(self, node: Node) -> None:
        if (read := attribute_by_name(node, self.bindings)) is not None:
            self.chains[read] = None
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None:
            if (dotted := chain(function)) is not None:
                self.calls[dotted] = None
                if "." in dotted:
                    self.chains[dotted] = None
            if function.type != "identifier":
                self._inside(function)
        for child in arguments.named_children if arguments is not None else ():
            self.visit(child.named_children[-1] if child.type == "keyword_argument" else child)


def expression(node: Node, bindings: Bindings = NO_BINDINGS) -> Expr:
    """Return an expression's text and reads."""
    reads = _Reads(bindings)
    reads.visit(node)
    return Expr(
        render(node, bindings),
        tuple(reads.chains),
        tuple(reads.names),
        tuple(reads.calls),
        tuple(reads.strings),
    )
