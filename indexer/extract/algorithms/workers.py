"""Which worker class each algorithm runs, under which conditions."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from indexer.extract.algorithms.logic import MemberLogic
from indexer.extract.algorithms.members import Registry
from indexer.extract.reduction import Place, written_path
from indexer.knowledge.schema import Condition, Location, Worker
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.guards import Guard, guarded_statements
from indexer.syntax.nodes import node_of
from indexer.syntax.parse import location, text

CREATOR = "create_worker"
_SCHEDULER = "sglang.srt.managers.scheduler"
_DRAFT_ATTRIBUTES = ("self.draft_worker",)


def creator(graph: ModuleGraph, registry: Registry) -> Definition | None:
    """Return the method that names the worker class, where the registry has one."""
    found = graph.definitions(registry.module, f"{registry.definition.qualname}.{CREATOR}")
    return found[0] if found else None


def workers(graph: ModuleGraph, registry: Registry, logic: MemberLogic, member: str) -> list[Worker]:
    """Return the worker classes of an algorithm, each with what else must hold for it."""
    method = creator(graph, registry)
    if method is not None:
        return _from_returns(graph, method, logic, member)
    factory = registry.members[member].factory
    if factory is not None:
        target = graph.resolve(registry.module, text(factory))
        if target is not None and target.kind == "function":
            return _from_returns(graph, target, logic, member)
        if target is not None and target.kind == "class":
            return [_worker(target, [], location(factory, registry.module.path))]
        return []
    return _from_scheduler(graph, logic, member)


def _from_returns(graph: ModuleGraph, function: Definition, logic: MemberLogic, member: str) -> list[Worker]:
    module, node = graph.module(function.module), node_of(graph, function)
    if module is None or node is None:
        return []
    place = Place(module, function.qualname, node)
    result = []
    for one in guarded_statements(node):
        if one.statement.type != "return_statement" or not one.statement.named_children:
            continue
        value = one.statement.named_children[0]
        result += _chosen(graph, value, one.guards, place, one.statement, logic, member)
    return result


def _from_scheduler(graph: ModuleGraph, logic: MemberLogic, member: str) -> list[Worker]:
    """Read the scheduler that chooses the class itself (older trees)."""
    module = graph.module(_SCHEDULER)
    result: list[Worker] = []
    for record in module.functions if module else []:
        definition = Definition("function", _SCHEDULER, record.qualname, module.path, record)  # type: ignore[union-attr]
        node = node_of(graph, definition)
        if module is None or node is None or _DRAFT_ATTRIBUTES[0] not in text(node):
            continue
        place = Place(module, record.qualname, node)
        for one in guarded_statements(node):
            assignment = one.statement.named_children[0] if one.statement.named_children else None
            left = assignment.child_by_field_name("left") if assignment else None
            right = assignment.child_by_field_name("right") if assignment else None
            if left is not None and right is not None and text(left) in _DRAFT_ATTRIBUTES:
                result += _chosen(graph, right, one.guards, place, right, logic, member)
    return result


def _chosen(
    graph: ModuleGraph,
    value: Node,
    guards: tuple[Guard, ...],
    place: Place,
    at: Node,
    logic: MemberLogic,
    member: str,
) -> list[Worker]:
    conditions = logic.path(guards, member, place)
    if conditions is None:
        return []
    result = []
    for target, more in _classes(graph, value, (), place):
        extra = logic.path(more, member, place)
        if extra is not None:
            result.append(
                _worker(target, [*conditions, *extra], location(at, place.module.path, place.scope))
            )
    return result


def _classes(
    graph: ModuleGraph, value: Node, guards: tuple[Guard, ...], place: Place
) -> Iterator[tuple[Definition, tuple[Guard, ...]]]:
    """Yield the classes a value may be: ``X``, ``X(...)``, ``X if test else Y``, or a local name."""
    if value.type == "conditional_expression":
        first, test, last = value.named_children[:3]
        yield from _classes(graph, first, (*guards, Guard(test)), place)
        yield from _classes(graph, last, (*guards, Guard(test, False)), place)
        return
    if value.type == "call":
        function = value.child_by_field_name("function")
        if function is not None:
            yield from _classes(graph, function, guards, place)
        return
    if value.type not in ("identifier", "attribute"):
        return
    target = graph.resolve(place.module, text(value), place.scope)
    if target is not None and target.kind == "class":
        yield target, guards
        return
    if target is None and place.function is not None:
        for one in guarded_statements(place.function):
            assignment = one.statement.named_children[0] if one.statement.named_children else None
            left = assignment.child_by_field_name("left") if assignment else None
            right = assignment.child_by_field_name("right") if assignment else None
            if left is not None and right is not None and text(left) == text(value) and right.type != "call":
                yield from _classes(graph, right, guards, Place(place.module, place.scope, None))


def _worker(target: Definition, conditions: list[Condition], at: Location) -> Worker:
    return Worker(target.qualname, written_path(conditions), at, target.location)


def platform_hook(graph: ModuleGraph, registry: Registry) -> Location | None:
    """Return where an out-of-tree platform may put its own worker class in place, if the tree lets it."""
    for record in registry.module.functions:
        owner, _, name = record.qualname.rpartition(".")
        if owner == registry.definition.qualname and "platform" in name and "worker" in name:
            return Location(registry.module.path, record.line, record.end_line, record.qualname)
    return None
