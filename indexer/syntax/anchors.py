"""Finding the few places of a shape in a large file: a byte search first, then the syntax tree.

Asking the tree about every attribute of every file is slow; a regular expression finds the candidates,
and the node at each decides whether it is code at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from indexer.syntax.parse import text

_NOT_CODE = ("comment", "string", "string_content", "string_start", "string_end", "ERROR")


class Shape(NamedTuple):
    """A pattern that begins with a fixed word: the word is searched, at ten times a pattern's speed."""

    word: bytes
    pattern: re.Pattern[bytes]

    def found(self, source: bytes, start: int, end: int) -> Iterator[re.Match[bytes]]:
        """Yield what the pattern's ``finditer`` would."""
        at = source.find(self.word, start, end)
        while at >= 0:
            match = self.pattern.match(source, at, end)
            if match:
                yield match
            at = source.find(self.word, match.end() if match else at + 1, end)

    def occurs(self, source: bytes, start: int, end: int) -> bool:
        """Return whether there is any match."""
        return next(self.found(source, start, end), None) is not None


def shape(word: str, rest: str, before: str = "", flags: int = 0) -> Shape:
    """Return the shape of ``word`` followed by the pattern ``rest``; ``before`` looks back from the word."""
    return Shape(word.encode(), re.compile(f"{before}{re.escape(word)}{rest}".encode(), flags))


def anchors(
    wanted: Shape | re.Pattern[bytes],
    source: bytes,
    root: Node,
    group: int = 0,
    span: tuple[int, int] | None = None,
) -> Iterator[tuple[re.Match[bytes], Node]]:
    """Yield each match in code with the smallest node at a group's start.

    Matches in comments and strings are left out, those in an f-string's fields kept. ``span`` limits the
    search to a byte range.
    """
    start, end = span or (0, len(source))
    matches = wanted.found if isinstance(wanted, Shape) else wanted.finditer
    for match in matches(source, start, end):
        at = match.start(group)
        node = root.descendant_for_byte_range(at, at + 1)
        if node is not None and node.type not in _NOT_CODE:
            yield match, node


def literals_with(words: tuple[bytes, ...], source: bytes, root: Node) -> list[Node]:
    """Return the string literals with one of some words in them, in source order.

    Adjacent literals are given as the whole they make and each alone, f-strings and what is in them too.
    """
    found: dict[int, Node] = {}
    for word in words:
        at = source.find(word)
        while at >= 0:
            around = root.descendant_for_byte_range(at, at + 1)
            while around is not None:
                if around.type in ("string", "concatenated_string"):
                    found[around.id] = around
                around = around.parent
            at = source.find(word, at + 1)
    return sorted(found.values(), key=lambda node: (node.start_byte, -node.end_byte))


def root_and_source(node: Node) -> tuple[Node, bytes]:
    """Return the file's root node and its source, with offsets as the nodes have them."""
    while node.parent is not None:
        node = node.parent
    # The root starts at the first thing that is not white space.
    return node, bytes(node.start_byte) + (node.text or b"")


def ancestor(node: Node, *kinds: str) -> Node | None:
    """Return the innermost node of some types around a node."""
    around = node.parent
    while around is not None and around.type not in kinds:
        around = around.parent
    return around


def enclosing_symbol(node: Node) -> str | None:
    """Return the qualified name of the class or function around a node, None at module level."""
    names: list[str] = []
    around = node.parent
    while around is not None:
        if around.type in ("function_definition", "class_definition"):
            name = around.child_by_field_name("name")
            if name is not None:
                names.append(text(name))
        around = around.parent
    return ".".join(reversed(names)) or None


def outermost(node: Node, *kinds: str) -> Node:
    """Return the widest expression of some types around ``node`` (``a.b()`` from ``b``)."""
    while node.parent is not None and node.parent.type in kinds:
        node = node.parent
    return node


def is_written(node: Node) -> bool:
    """Return whether an expression is the target of an assignment or deletion."""
    child, around = node, node.parent
    while around is not None and around.type in ("pattern_list", "tuple_pattern", "list_pattern"):
        child, around = around, around.parent
    if around is None:
        return False
    if around.type == "delete_statement":
        return True
    return around.type == "assignment" and around.child_by_field_name("left") == child
