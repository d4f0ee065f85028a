"""Which architectures a function lists as sliding-window hybrids, and under which further conditions."""

from __future__ import annotations

from tree_sitter import Node

from indexer.extract.models.tests import ArchitectureTests
from indexer.extract.reduction import Place, flat
from indexer.knowledge.schema import Location
from indexer.syntax.parse import text


def listed_under(
    function: Node, place: Place, tests: ArchitectureTests
) -> dict[str, tuple[Location, str | None]]:
    """Return each architecture that a function asks for: its line, and what must hold beside it."""
    found: dict[str, tuple[Location, str | None]] = {}
    queue = [function]
    while queue:
        node = queue.pop(0)
        if node.type == "boolean_operator" and text(node.child_by_field_name("operator") or node) == "and":
            parts = _conjuncts(node)
            for part in parts:
                beside = " and ".join(flat(text(one)) for one in parts if one is not part)
                for name, at in tests.architectures_in(part, place).values.items():
                    found.setdefault(str(name), (at, beside))
            continue
        if node.type == "comparison_operator":
            for name, at in tests.architectures_in(node, place).values.items():
                found.setdefault(str(name), (at, None))
            continue
        queue.extend(node.named_children)
    return found


def _conjuncts(node: Node) -> list[Node]:
    operator = node.child_by_field_name("operator")
    if node.type == "boolean_operator" and operator is not None and text(operator) == "and":
        return [part for child in node.named_children for part in _conjuncts(child)]
    return [node]
