"""Which draft architecture a target's own checkpoint is served with when it is loaded as a draft."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from indexer.extract.models.tests import ArchitectureTests
from indexer.extract.reduction import Place, written_path
from indexer.knowledge.schema import Condition, Location, Unknown
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.guards import Guarded, guarded_statements
from indexer.syntax.nodes import node_of
from indexer.syntax.parse import line, location, string_value, text

MODULE = f"{PACKAGE_ROOT}/srt/configs/model_config.py"
_TARGET = re.compile(r"\barchitectures(\[0\])?$")
_AS_DRAFT = re.compile(r"^(self\.)?is_draft\w*( and )?")
_DRAFT = re.compile(r"is_draft|draft_model")


@dataclass(frozen=True)
class DraftMapping:
    """One statement that replaces the architecture: the new one, and the tests that lead to it."""

    draft: str | Unknown
    at: Location
    guarded: Guarded
    place: Place


def draft_mappings(graph: ModuleGraph) -> list[DraftMapping]:
    """Return every statement that puts a draft architecture in place of the target's."""
    module = graph.module(MODULE)
    found = []
    for record in module.functions if module else ():
        definition = Definition("function", module.name, record.qualname, MODULE, record)  # type: ignore[union-attr]
        node = node_of(graph, definition)
        if module is None or node is None or "architectures" not in text(node):
            continue
        place = Place(module, record.qualname, node)
        for one in guarded_statements(node):
            value = _replacement(one.statement)
            if value is not None and any(_DRAFT.search(text(guard.test)) for guard in one.guards):
                at = location(one.statement, MODULE, record.qualname)
                found.append(DraftMapping(_constant(value), at, one, place))
    return found


def _replacement(statement: Node) -> Node | None:
    inner = statement.named_children[0] if statement.named_children else None
    if inner is None or inner.type != "assignment":
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None or not _TARGET.search(text(left)):
        return None
    return right


def _constant(node: Node) -> str | Unknown:
    inner = node.named_children[0] if node.type in ("list", "parenthesized_expression") else node
    value = string_value(inner)
    return value if value is not None else Unknown(f"computed: {text(node)}", Location(MODULE, line(node)))


def drafts_of(
    mappings: list[DraftMapping], tests: ArchitectureTests, architecture: str
) -> list[tuple[DraftMapping, str | None]]:
    """Return the mappings of an architecture, each with what else must hold."""
    found = []
    for mapping in mappings:
        named = any(
            guard.holds
            and tests.decide(guard.test, architecture, mapping.place) is not False
            and tests.names(guard.test, mapping.place, architecture)
            for guard in mapping.guarded.guards
        )
        left = tests.path(mapping.guarded.guards, architecture, mapping.place) if named else None
        if left is None:
            continue
        rest = [Condition(kept, one.holds, one.at) for one in left if (kept := _AS_DRAFT.sub("", one.text))]
        found.append((mapping, written_path(rest)))
    return found
