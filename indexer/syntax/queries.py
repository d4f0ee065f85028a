"""Loading and running the tree-sitter queries of ``queries/*.scm``.

A query file describes one shape of source. It starts with comments: what it is for, then an example
on lines starting with ``;>`` and what the example must give on lines ``;= capture: first line``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tree_sitter import Node, Query, QueryCursor

from indexer._resources import data_path
from indexer.syntax.parse import language


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
def load(name: str) -> Query:
    """Return the compiled query of ``queries/NAME.scm``."""
    return Query(language(), source(name))


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
