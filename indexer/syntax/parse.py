"""Parsing Python sources with tree-sitter, and small helpers over its nodes."""

from __future__ import annotations

from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Tree

from indexer.knowledge.schema import Location


@cache
def language() -> Language:
    """Return tree-sitter's Python grammar."""
    return Language(tree_sitter_python.language())


@cache
def _parser() -> Parser:
    return Parser(language())


def parse(source: bytes) -> Tree:
    """Parse Python source. Broken source still gives a tree, with ``ERROR`` nodes in it."""
    return _parser().parse(source)


def text(node: Node) -> str:
    """Return the node's source text."""
    raw = node.text
    return raw.decode("utf-8", "replace") if raw else ""


def line(node: Node) -> int:
    """Return the node's first line, counted from 1."""
    return node.start_point[0] + 1


def end_line(node: Node) -> int:
    """Return the node's last line, counted from 1."""
    return node.end_point[0] + 1


def location(node: Node, path: str, symbol: str | None = None) -> Location:
    """Return where the node stands in the file ``path``."""
    return Location(path, line(node), end_line(node), symbol)


def string_value(node: Node) -> str | None:
    """Return the value of a plain string literal (adjacent literals joined), None for anything else.

    An f-string with a replacement field has no static value.
    """
    import ast

    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return string_value(node.named_children[0])
    if node.type not in ("string", "concatenated_string"):
        return None
    try:
        value = ast.literal_eval(text(node))
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None
