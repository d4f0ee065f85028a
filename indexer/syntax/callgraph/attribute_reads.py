"""The attributes that each body of a file names: what runs a property, what touches the pools of state.

They are as many as everything else that the call graph knows of a file, and only code paths ask for them,
so they are facts of their own: read with the calls where code paths are wanted, else when the first
question about a file comes.
"""

from __future__ import annotations

from typing import Any

import msgspec
from tree_sitter import QueryCursor, Tree

from indexer.syntax import queries
from indexer.syntax.callgraph.facts import CALL_FACTS, FileFacts, Walk
from indexer.syntax.facts import Extractor

_LONGEST = 120

Read = tuple[int, str, int]
"""Line of the last name, text, index of the guard or -1."""


class AttributeReads(msgspec.Struct, array_like=True):
    """The reads by scope, in the order and with the guards of the file's ``FileFacts``."""

    scopes: list[list[Read]]


def read_attributes(path: str, source: bytes, tree: Tree) -> AttributeReads:
    """Return the attribute reads of one parsed file."""
    return read_both(path, source, tree)[0]


def read_both(path: str, source: bytes, tree: Tree) -> tuple[AttributeReads, FileFacts]:
    """Return the attribute reads of one parsed file, and what ``read_facts`` gives."""
    walk = _Walk(source, tree.root_node)
    query = queries.load("callgraph", "attribute_reads")
    facts = walk.run(QueryCursor(query).captures(tree.root_node))
    return AttributeReads([walk.reads.get(id(scope), []) for scope in facts.scopes]), facts


ATTRIBUTE_READS = Extractor(
    "attribute-reads",
    read_attributes,
    AttributeReads,
    both=(CALL_FACTS, read_both),
    decided_by=(
        "indexer.syntax.callgraph.facts",
        "queries/callgraph.scm",
        "queries/attribute_reads.scm",
    ),
)


class _Walk(Walk):
    def __init__(self, source: bytes, root: Any) -> None:
        super().__init__(source, root)
        self.reads: dict[int, list[Read]] = {}
        self._last = (-1, -1)

    def on_attribute(self, node: Any, start: int, end: int) -> None:
        if start == self._last[0] and end <= self._last[1]:
            return
        if end - start > _LONGEST:
            return
        text = self._text(node)
        if text.replace(".", "").isidentifier():
            self._last = (start, end)  # its prefixes say nothing new; a chain with calls keeps them
        reads = self.reads.setdefault(id(self.scope), [])
        reads.append((node.end_point[0] + 1, text, self.guard))
