"""Loading and running the tree-sitter queries of ``queries/*.scm``.

A query file describes one shape of source. It starts with comments: what it is for, then an example
on lines starting with ``;>`` and what the example must give on lines ``;= capture: first line``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tree_sitter import Node, Query, QueryCursor

from indexer._resources import data_path
from indexer.syntax.parse import language

_CAPTURE = re.compile(r"@(\w+)")


@cache
def folder() -> Path:
    """Return the folder of the query files."""
    return data_path("queries")


def names() -> list[str]:
    """Return the names of all queries."""
    return sorted(path.stem for path in folder().glob("*.scm"))


def source(name: str) -> str:
    """Return the text of a query file."""
    return (folder() / f"{name}.scm").read_text(encoding="utf-8")


@cache
def load(*names: str) -> Query:
    """Return the compiled query of ``queries/NAME.scm``; of several files, whose captures differ, as one."""
    return Query(language(), "\n".join(map(source, names)))


@cache
def _joined(names: tuple[str, ...]) -> Query:
    """Return several queries as one, the captures named ``QUERY.CAPTURE``: one walk over a file for all."""
    return Query(language(), "\n".join(_CAPTURE.sub(rf"@{name}.\1", source(name)) for name in names))


def joined_captures(names: tuple[str, ...], node: Node) -> dict[str, dict[str, list[Node]]]:
    """Return what ``captures`` gives for each of several queries, by query."""
    found: dict[str, dict[str, list[Node]]] = {name: {} for name in names}
    for qualified, nodes in QueryCursor(_joined(names)).captures(node).items():
        name, _, capture = qualified.partition(".")
        found[name][capture] = sorted(nodes, key=lambda one: one.start_byte)
    return found


def matches(name: str, node: Node) -> Iterator[dict[str, list[Node]]]:
    """Return the captures of each match of query ``name`` below ``node``, in source order."""
    found = [captures for _, captures in QueryCursor(load(name)).matches(node)]
    # tree-sitter gives matches in the order in which they end
    return iter(
        sorted(found, key=lambda one: min(node.start_byte for nodes in one.values() for node in nodes))
    )


def captures(name: str, node: Node) -> dict[str, list[Node]]:
    """Return all nodes of query ``name`` below ``node`` by capture name, in source order."""
    found = QueryCursor(load(name)).captures(node)
    return {capture: sorted(nodes, key=lambda one: one.start_byte) for capture, nodes in found.items()}
