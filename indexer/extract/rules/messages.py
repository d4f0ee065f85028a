"""Message templates: literal text with ``{expression}`` where the value is filled in at run time."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress

from tree_sitter import Node

from indexer.extract.rules.expressions import Bindings, bound, render, unwrap
from indexer.syntax.parse import text

Lookup = Callable[[str], Node | None]
"""Gives the node last assigned to a local name."""


def template(node: Node, bindings: Bindings, lookup: Lookup, depth: int = 0) -> str:
    """Return the template of a message expression (string, f-string, ``+``, ``%``, ``.format``, name)."""
    node = bound(unwrap(node), bindings)
    if node.type == "string":
        return _string(node, bindings, lookup, depth)
    if node.type == "concatenated_string":
        return "".join(
            template(child, bindings, lookup, depth)
            for child in node.named_children
            if child.type == "string"
        )
    if node.type == "binary_operator":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is not None and right is not None and operator is not None:
            first = template(left, bindings, lookup, depth)
            return first if text(operator) == "%" else first + template(right, bindings, lookup, depth)
    if node.type == "call" and (owner := _method_owner(node, "format")) is not None:
        return template(owner, bindings, lookup, depth)
    if node.type == "identifier" and depth < 3 and (value := lookup(text(node))) is not None:
        return template(value, bindings, lookup, depth + 1)
    return "{" + render(node, bindings) + "}"


def _method_owner(call: Node, name: str) -> Node | None:
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return None
    attribute = function.child_by_field_name("attribute")
    return (
        function.child_by_field_name("object") if attribute is not None and text(attribute) == name else None
    )


def _string(node: Node, bindings: Bindings, lookup: Lookup, depth: int) -> str:
    if not any(child.type == "interpolation" for child in node.named_children):
        try:
            value = ast.literal_eval(text(node))
        except (ValueError, SyntaxError):
            value = None
        if isinstance(value, str):
            return value
    return "".join(_piece(child, bindings, lookup, depth) for child in node.named_children)


def _piece(child: Node, bindings: Bindings, lookup: Lookup, depth: int) -> str:
    if child.type == "string_content":
        return _content(child)
    if child.type != "interpolation":
        return ""
    value = child.child_by_field_name("expression") or child.named_children[0]
    target = bound(value, bindings)
    if target != unwrap(value) and target.type in ("string", "concatenated_string"):
        return template(target, {}, lookup, depth)
    shown = f"{text(value)}=" if any(one.type == "=" for one in child.children) else ""
    return shown + "{" + render(value, bindings) + "}"


def _content(node: Node) -> str:
    raw = node.text or b""
    start, pieces, last = node.start_byte, [], 0
    for child in node.named_children:
        pieces.append(raw[last : child.start_byte - start].decode("utf-8", "replace"))
        written = text(child)
        if child.type == "escape_sequence":
            with suppress(ValueError, SyntaxError):
                written = ast.literal_eval(f'"{written}"')
        pieces.append(written)
        last = child.end_byte - start
    pieces.append(raw[last:].decode("utf-8", "replace"))
    return "".join(pieces).replace("{{", "{").replace("}}", "}")
