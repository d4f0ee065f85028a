"""Deciding tests for one algorithm: what ``algo.is_eagle() and not overlap`` is when algo is EAGLE."""

from __future__ import annotations

import re

from tree_sitter import Node

from indexer.extract.algorithms.members import NO_ALGORITHM, Registry
from indexer.extract.literal_sites import LiteralTracer
from indexer.extract.reduction import Place, Reducer
from indexer.knowledge.schema import Location, Unknown, Value
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.nodes import own_nodes, positional_arguments
from indexer.syntax.parse import line, string_value, text

_FIELD = re.compile(r"(^|\.)(speculative_algorithm|algorithm_name)$")
_OBJECT = re.compile(r"(^|\.)(spec_algorithm|speculative_algorithm|algorithm|algo|spec_algo)$")
_PREDICATE = re.compile(r"^(is|supports|has|need|needs|carries|uses|requires)_")
_MISSING = object()


class MemberLogic(Reducer):
    """Evaluates tests over algorithms. None means that the test depends on something else."""

    hint = re.compile(r"algo|\.(is|supports|has|needs?|carries|uses|requires)_\w+\(\)")

    def __init__(self, graph: ModuleGraph, registry: Registry) -> None:
        self.graph = graph
        self.registry = registry
        self.tracer = LiteralTracer(graph)
        self._place = Place(registry.module)
        self._bodies = self._predicate_bodies()

    # -- predicates ------------------------------------------------------------------------------

    def _predicate_bodies(self) -> dict[str, tuple[Node, list[Node]]]:
        """Return each predicate method's node and the expressions it returns."""
        bodies: dict[str, tuple[Node, list[Node]]] = {}
        block = self.registry.node.child_by_field_name("body")
        for child in block.named_children if block else []:
            node = child.child_by_field_name("definition") or child
            name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
            if node.type != "function_definition" or name is None or parameters is None:
                continue
            if _PREDICATE.match(text(name)) and parameters.named_child_count == 1:
                returned = [one.named_children[0] for one in own_nodes(node, ("return_statement",))]
                bodies[text(name)] = (node, returned)
        return bodies

    def predicates_at(self) -> dict[str, Location]:
        """Return where each predicate is defined."""
        path = self.registry.module.path
        return {
            name: Location(
                path, line(node), node.end_point[0] + 1, f"{self.registry.definition.qualname}.{name}"
            )
            for name, (node, _) in self._bodies.items()
        }

    def predicates(self, member: str) -> dict[str, Value]:
        """Return the value of every predicate for a member; ``Unknown`` where a body is not a plain test."""
        result: dict[str, Value] = {}
        for name, (node, _) in self._bodies.items():
            decided = self.predicate(name, member)
            at = Location(self.registry.module.path, line(node))
            result[name] = Unknown("not decided by the algorithm alone", at) if decided is None else decided
        return result

    def predicate(self, name: str, member: str) -> bool | None:
        """Return the value of one predicate for a member."""
        _, returned = self._bodies.get(name, (None, []))
        if len(returned) != 1:
            return None
        return self.decide(returned[0], member, Place(self.registry.module, function=None))

    # -- tests -----------------------------------------------------------------------------------

    def leaf(self, node: Node, subject: str, place: Place) -> bool | None:
        if node.type == "comparison_operator":
            return self._comparison(node, subject, place)
        if node.type == "call":
            return self._call(node, subject, place)
        if node.type in ("identifier", "attribute") and _FIELD.search(text(node)):
            return subject != NO_ALGORITHM
        return None

    def _comparison(self, node: Node, member: str, place: Place) -> bool | None:
        operands = [child for child in node.named_children if child.type != "comment"]
        operator = " ".join(text(child) for child in node.children_by_field_name("operators"))
        if len(operands) != 2:
            return None
        left = self._value(operands[0], member, place)
        if left is _MISSING:
            return None
        if operator in ("in", "not in"):
            group = self._group(operands[1], member, place)
            return None if group is None else (left in group) is (operator == "in")
        right = self._value(operands[1], member, place)
        if right is _MISSING or operator not in ("==", "!=", "is", "is not"):
            return None
        return (left == right) is (operator in ("==", "is"))

    def _value(self, node: Node, member: str, place: Place) -> object:
        """Return the algorithm name an expression stands for, None for ``None``, else _MISSING."""
        written = text(node)
        if node.type == "none":
            return None
        if node.type == "string":
            value = string_value(node)
            return value.upper() if value is not None else _MISSING
        if node.type == "attribute":
            head, _, last = written.rpartition(".")
            if head in ("cls", self.registry.definition.qualname) and last in self.registry.members:
                return last
            if last == "name":
                return self._value(node.child_by_field_name("object") or node, member, place)
        if written == "self" and place.module is self.registry.module:
            return member
        if node.type in ("identifier", "attribute") and (_FIELD.search(written) or _OBJECT.search(written)):
            return None if member == NO_ALGORITHM and _FIELD.search(written) else member
        if node.type == "call" and ".from_string" in written:
            return member
        return _MISSING

    def _group(self, node: Node, member: str, place: Place) -> set[object] | None:
        if node.type in ("tuple", "list", "set"):
            values = {
                self._value(child, member, place) for child in node.named_children if child.type != "comment"
            }
            return None if _MISSING in values else values
        if node.type in ("identifier", "attribute", "call"):
            found = self.tracer.trace(node, place.module, place.scope)
            values = {value.upper() if isinstance(value, str) else value for value in found.values}
            if values and not found.unknown:
                return values
        return None

    def _call(self, node: Node, member: str, place: Place) -> bool | None:
        function = node.child_by_field_name("function")
        if function is None or function.type != "attribute":
            return None
        owner, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        if owner is None or name is None or self._value(owner, member, place) != member:
            return None
        arguments = positional_arguments(node)
        if text(name) == "_has_flag" and arguments:
            marks = self.registry.members[member].marks if member in self.registry.members else frozenset()
            return string_value(arguments[0]) in marks
        return self.predicate(text(name), member) if not arguments else None
