"""Which radix-cache strategies a hybrid model supports: lists of architectures, or branches that say so."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from indexer.extract.algorithms.aliases import resolver_paths
from indexer.extract.models.tests import ArchitectureTests
from indexer.extract.reduction import Place
from indexer.knowledge.schema import Location
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.guards import guarded_statements
from indexer.syntax.nodes import keyword_arguments, node_of, own_nodes
from indexer.syntax.parse import location, string_value, text

_RADIX_FUNCTION = re.compile(r"(handle_)?mamba_radix_cache(_resolution)?$")
_EXTRA_FUNCTION = re.compile(r"supports?_mamba_(cache_)?extra_buffer$")
_STRATEGY_TEST = re.compile(r"(^enable_|^)mamba_extra_buffer(_of)?$")
_STRATEGY = re.compile(r"\bmamba_\w*strategy$")
_RADIX_CALL = re.compile(r"mamba_radix_cache$")


@dataclass
class RadixSupport:
    """Where an architecture gets the recurrent-state radix cache, and the extra_buffer strategy.

    False means that the tree says no; None that it does not say.
    """

    radix: Location | bool | None = None
    extra_buffer: Location | bool | None = None
    branch_at: Location | None = None


@dataclass
class RadixTable:
    """Support by architecture. ``listed`` says whether the tree keeps such lists or branches at all."""

    by_architecture: dict[str, RadixSupport] = field(default_factory=dict)
    listed: bool = False

    def of(self, architecture: str) -> RadixSupport:
        """Return what is said about an architecture, made empty where nothing is."""
        return self.by_architecture.setdefault(architecture, RadixSupport())


def radix_table(graph: ModuleGraph, tests: ArchitectureTests, names: list[str]) -> RadixTable:
    """Return the radix-cache support of every architecture that the resolver names."""
    table = RadixTable()
    for path in resolver_paths(graph):
        if b"mamba" not in graph.tree.read(path):
            continue
        module = graph.module(path)
        for record in module.functions if module else ():
            definition = Definition("function", module.name, record.qualname, path, record)  # type: ignore[union-attr]
            node = node_of(graph, definition)
            if module is None or node is None or b"mamba" not in (node.text or b""):
                continue
            place = Place(module, record.qualname, node)
            name = record.qualname.rpartition(".")[2]
            if _EXTRA_FUNCTION.search(name):
                _listed(node, place, tests, table, "extra_buffer")
            elif _RADIX_FUNCTION.search(name):
                _listed(node, place, tests, table, "radix")
            else:
                _branches(node, place, tests, table, names)
    return table


def extra_buffer_strategies(graph: ModuleGraph) -> dict[str, Location]:
    """Return the strategies that use an extra buffer, from the function that says so, each with its line."""
    for path in resolver_paths(graph):
        if b"mamba_extra_buffer" not in graph.tree.read(path):
            continue
        module = graph.module(path)
        for record in module.functions if module else ():
            if _STRATEGY_TEST.search(record.qualname.rpartition(".")[2]):
                definition = Definition("function", module.name, record.qualname, path, record)  # type: ignore[union-attr]
                node = node_of(graph, definition)
                found = _tested_strategies(node, path) if node is not None else {}
                if found:
                    return found
    return {}


def _tested_strategies(function: Node, path: str) -> dict[str, Location]:
    """Return the values that a function compares a strategy with."""
    for comparison in own_nodes(function, ("comparison_operator",)):
        operands = [child for child in comparison.named_children if child.type != "comment"]
        if _STRATEGY.search(text(operands[0])):
            values = operands[1:] if string_value(operands[1]) else operands[1].named_children
            named = ((string_value(one), one) for one in values)
            return {name: location(one, path) for name, one in named if name}
    return {}


def _listed(node: Node, place: Place, tests: ArchitectureTests, table: RadixTable, what: str) -> None:
    for architecture, at in tests.architectures_in(node, place).values.items():
        support = table.of(str(architecture))
        table.listed = True
        if getattr(support, what) in (None, False):
            setattr(support, what, at)


def _branches(
    node: Node, place: Place, tests: ArchitectureTests, table: RadixTable, names: list[str]
) -> None:
    """Read calls of the radix-cache handler in branches on the architecture."""
    for one in guarded_statements(node):
        call = one.statement.named_children[0] if one.statement.named_children else None
        function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
        if call is None or function is None or not _RADIX_CALL.search(text(function)):
            continue
        keywords = {name: text(value) for name, value in keyword_arguments(call).items()}
        at = location(call, place.module.path, place.scope)
        positive = [tests.architectures_in(guard.test, place).values for guard in one.guards if guard.holds]
        for name in names:
            asked = any(name in tested for tested in positive)
            if not asked or tests.path(one.guards, name, place) is None:
                continue
            support = table.of(name)
            table.listed = True
            support.branch_at = at
            if keywords.get("support_mamba_cache") == "False":
                support.radix, support.extra_buffer = False, False
                continue
            support.radix = support.radix or at
            if keywords.get("support_mamba_cache_extra_buffer") in ("True", "False"):
                yes = keywords["support_mamba_cache_extra_buffer"] == "True"
                support.extra_buffer = at if yes else False
