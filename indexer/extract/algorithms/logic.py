"""Deciding tests for one algorithm: what ``algo.is_eagle() and not overlap`` is when algo is EAGLE."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from indexer.extract.algorithms.members import NO_ALGORITHM, Registry
from indexer.extract.literal_sites import LiteralTracer
from indexer.knowledge.schema import Condition, Location, Unknown, Value
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.guards import Guard
from indexer.syntax.module import Module
from indexer.syntax.nodes import own_nodes, positional_arguments
from indexer.syntax.parse import line, string_value, text

_FIELD = re.compile(r"(^|\.)(speculative_algorithm|algorithm_name)$")
_OBJECT = re.compile(r"(^|\.)(spec_algorithm|speculative_algorithm|algorithm|algo|spec_algo)$")
_PREDICATE = re.compile(r"^(is|supports|has|need|needs|carries|uses|requires)_")
_MISSING = object()


@dataclass(frozen=True)
class Place:
    """Where an expression stands: its module, and the function whose local names it may use."""

    module: Module
    scope: str = ""
    function: Node | None = None


class MemberLogic:
    """Evaluates tests over algorithms. None means that the test depends on something else."""

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

    def decide(self, node: Node, member: str, place: Place) -> bool | None:
        """Return whether a test holds for a member, None where more than the algorithm decides."""
        return self.reduce(node, member, place)[0]

    def reduce(self, node: Node, member: str, place: Place) -> tuple[bool | None, str]:
        """Return the test's value for a member, and the source of what is left to decide."""
        kind = node.type
        if kind == "parenthesized_expression":
            return self.reduce(node.named_children[0], member, place)
        if kind == "not_operator":
            argument = node.child_by_field_name("argument")
            value, rest = self.reduce(argument, member, place) if argument else (None, text(node))
            return (None, _negated(rest)) if value is None else (not value, "")
        if kind == "boolean_operator":
            return self._boolean(node, member, place)
        if kind in ("true", "false"):
            return kind == "true", ""
        if kind == "comparison_operator":
            return self._comparison(node, member, place), _flat(text(node))
        if kind == "call":
            return self._call(node, member, place), _flat(text(node))
        if kind == "identifier":
            assigned = _local_value(node, place)
            if assigned is not None:
                return self.reduce(assigned, member, Place(place.module, place.scope, None))
        if kind in ("identifier", "attribute") and _FIELD.search(text(node)):
            return member != NO_ALGORITHM, ""
        return None, _flat(text(node))

    def _boolean(self, node: Node, member: str, place: Place) -> tuple[bool | None, str]:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        operator = node.child_by_field_name("operator")
        word = text(operator) if operator else "and"
        dominant = word == "or"
        rests = []
        for side in sides:
            value, rest = self.reduce(side, member, place) if side else (None, "")
            if value is dominant:
                return dominant, ""
            if value is None:
                rests.append(rest)
        return (None, f" {word} ".join(rests)) if rests else (not dominant, "")

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

    # -- guards ----------------------------------------------------------------------------------

    def path(self, guards: tuple[Guard, ...], member: str, place: Place) -> list[Condition] | None:
        """Return the conditions left of a path's tests for a member; None where it is never taken."""
        left: list[Condition] = []
        for guard in guards:
            value, rest = self.reduce(guard.test, member, place)
            if value is None:
                at = Location(place.module.path, line(guard.test))
                left.append(Condition(rest, guard.holds, at))
            elif value is not guard.holds:
                return None
        return left

    def names_algorithm(self, node: Node, place: Place) -> bool:
        """Return whether a test decides differently for different algorithms."""
        outcomes = {self.reduce(node, member, place) for member in self.registry.members}
        return len(outcomes) > 1


def written_path(conditions: list[Condition]) -> str | None:
    """Return conditions as one line of source, None where there are none."""
    parts = [one.text if one.holds else _negated(one.text) for one in conditions]
    return " and ".join(f"({part})" if " or " in part and len(parts) > 1 else part for part in parts) or None


def _negated(written: str) -> str:
    if " and " not in written and " or " not in written:
        if written.startswith("not "):
            return written[4:]
        for operator, opposite in ((" is not ", " is "), (" is ", " is not "), (" == ", " != ")):
            if written.count(operator) == 1 and not written.endswith(")"):
                return written.replace(operator, opposite)
    return f"not {written}" if re.fullmatch(r"[\w.]+(\([^()]*\))?", written) else f"not ({written})"


def _flat(written: str) -> str:
    return " ".join(written.split())


def _local_value(node: Node, place: Place) -> Node | None:
    """Return the only value assigned to a local name in the place's function."""
    if place.function is None:
        return None
    values = [
        one.child_by_field_name("right")
        for one in own_nodes(place.function, ("assignment",))
        if (left := one.child_by_field_name("left")) is not None and text(left) == text(node)
    ]
    return values[0] if len(values) == 1 else None
