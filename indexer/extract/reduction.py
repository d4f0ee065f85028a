"""Reducing tests for one subject: what is left of ``algo.is_eagle() and not overlap`` for one algorithm.

The boolean structure is handled here; what a comparison or call means for a subject is told by a
subclass's ``leaf``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from indexer.knowledge.schema import Condition, Location
from indexer.syntax.guards import Guard
from indexer.syntax.module import Module
from indexer.syntax.nodes import own_nodes
from indexer.syntax.parse import line, text


@dataclass(frozen=True)
class Place:
    """Where an expression stands: its module, and the function whose local names it may use."""

    module: Module
    scope: str = ""
    function: Node | None = None

    @cached_property
    def assigned(self) -> dict[str, list[Node]]:
        """The values that the function assigns to each of its local names."""
        found: dict[str, list[Node]] = {}
        for one in own_nodes(self.function, ("assignment",)) if self.function is not None else ():
            left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
            if left is not None and right is not None:
                found.setdefault(text(left), []).append(right)
        return found


class Reducer(ABC):
    """Evaluates tests for a subject (an algorithm, an architecture) given by name.

    ``hint`` matches the source of every test that may depend on the subject.
    """

    hint: re.Pattern[str] = re.compile("")

    @abstractmethod
    def leaf(self, node: Node, subject: str, place: Place) -> bool | None:
        """Return whether a comparison, call or name holds for the subject, None where other things decide."""

    def decide(self, node: Node, subject: str, place: Place) -> bool | None:
        """Return whether a test holds for the subject, None where more than the subject decides."""
        return self.reduce(node, subject, place)[0]

    def reduce(self, node: Node, subject: str, place: Place) -> tuple[bool | None, str]:
        """Return the test's value for the subject, and the source of what is left to decide."""
        kind = node.type
        if kind == "parenthesized_expression":
            return self.reduce(node.named_children[0], subject, place)
        if kind == "not_operator":
            argument = node.child_by_field_name("argument")
            value, rest = self.reduce(argument, subject, place) if argument else (None, text(node))
            return (None, negated(rest)) if value is None else (not value, "")
        if kind == "boolean_operator":
            return self._boolean(node, subject, place)
        if kind in ("true", "false"):
            return kind == "true", ""
        value = self.leaf(node, subject, place)
        if value is None and kind == "identifier":
            assigned = local_value(node, place)
            if assigned is not None:
                return self.reduce(assigned, subject, Place(place.module, place.scope))
        return value, flat(text(node))

    def _boolean(self, node: Node, subject: str, place: Place) -> tuple[bool | None, str]:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        operator = node.child_by_field_name("operator")
        word = text(operator) if operator else "and"
        dominant = word == "or"
        rests = []
        for side in sides:
            value, rest = self.reduce(side, subject, place) if side else (None, "")
            if value is dominant:
                return dominant, ""
            if value is None:
                rests.append(rest)
        return (None, f" {word} ".join(rests)) if rests else (not dominant, "")

    def path(self, guards: tuple[Guard, ...], subject: str, place: Place) -> list[Condition] | None:
        """Return the conditions left of a path's tests for a subject; None where it is never taken."""
        left: list[Condition] = []
        for guard in guards:
            value, rest = self.reduce(guard.test, subject, place)
            if value is None:
                left.append(Condition(rest, guard.holds, Location(place.module.path, line(guard.test))))
            elif value is not guard.holds:
                return None
        return left


def written_path(conditions: list[Condition]) -> str | None:
    """Return conditions as one line of source, None where there are none."""
    parts = [one.text if one.holds else negated(one.text) for one in conditions]
    return " and ".join(f"({part})" if " or " in part and len(parts) > 1 else part for part in parts) or None


def negated(written: str) -> str:
    """Return the negation of a test, as source."""
    if " and " not in written and " or " not in written:
        if written.startswith("not "):
            return written[4:]
        for operator, opposite in ((" is not ", " is "), (" is ", " is not "), (" == ", " != ")):
            if written.count(operator) == 1 and not written.endswith(")"):
                return written.replace(operator, opposite)
    return f"not {written}" if re.fullmatch(r"[\w.]+(\([^()]*\))?", written) else f"not ({written})"


def flat(written: str) -> str:
    """Return source on one line."""
    return " ".join(written.split())


def local_value(node: Node, place: Place) -> Node | None:
    """Return the only value assigned to a local name in the place's function."""
    values = place.assigned.get(text(node), [])
    return values[0] if len(values) == 1 else None
