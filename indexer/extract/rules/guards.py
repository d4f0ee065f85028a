"""From a function's own guards to a rule's guard: the callers' conditions, constants folded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from indexer.extract.rules.facts import Atom, Effect
from indexer.extract.rules.program import Key
from indexer.extract.rules.reach import Edge, Reached
from indexer.extract.rules.stages import CHECKS, PARSING, RESOLVER
from indexer.knowledge.schema import Condition, Location

_MEMBER = re.compile(r"^([\w.\[\]0()]+) (==|in) (.+)$", re.DOTALL)
_COMPARISON = re.compile(r"^(\w+) (is not|is|==|!=) (.+)$")
_MOST_SITES = 40
_MOST_ALTERNATIVES = 12
_LONGEST = 900
_MOST_OUTER = 10
_ENCLOSING = {"if", "else", "case", "provider", "loop"}


class Guards:
    """Builds guards over the reached functions."""

    def __init__(self, reached: dict[Key, list[Reached]]) -> None:
        self._reached = reached

    def conditions(self, node: Reached, effect: Effect, at_issue: set[str]) -> list[Condition]:
        """Return the conjunction under which an effect happens, callers' conditions first.

        Getting here at all implies that no earlier check refused; what those tested is told only where
        it concerns the fields ``at_issue``.
        """
        own = [
            atom
            for atom in effect.guard
            if atom.how not in ("raise", "assert") or at_issue & set(node.reader.fields_in(atom.expr))
        ]
        result = self._entry(node, effect)
        result.extend(_condition(atom, node.key[0]) for atom in own)
        return _simplified(list({_same(one): one for one in result}.values()))

    def _entry(self, node: Reached, effect: Effect) -> list[Condition]:
        edges = [edge for edge in node.edges if edge.kind != "root" and self._only_way(edge, node.key)]
        if not edges or len(edges) != len(node.edges):
            return []
        alive = [edge for edge in edges if not _contradicted(effect.guard, edge.literals)]
        alternatives = [
            _simplified(self._outer(edge.caller) + self._site(edge))
            for edge in (alive or edges)[:_MOST_SITES]
        ]
        return alternatives[0] if len(alternatives) == 1 else _either(alternatives)

    def _only_way(self, edge: Edge, callee: Key) -> bool:
        """Return whether what this caller tests speaks for the callee.

        The resolver's callers are all known. Start-up code is not walked whole: there only a private
        function or one of the caller's own class is certain to have no other caller.
        """
        nodes = self._reached.get(edge.caller, []) if edge.caller is not None else []
        if any(node.stage in (PARSING, RESOLVER, CHECKS) for node in nodes):
            return True
        owner, _, name = callee[1].rpartition(".")
        own_class = bool(owner) and edge.caller is not None and edge.caller[1].rpartition(".")[0] == owner
        by_itself = edge.call is not None and edge.call.callee == f"self.{name}"
        return own_class or by_itself or (name.startswith("_") and not owner)

    def _site(self, edge: Edge) -> list[Condition]:
        path = edge.guard_path
        atoms = [atom for atom in edge.guard if atom.how not in ("raise", "assert", "except")]
        return [_condition(atom, path, caller=True) for atom in atoms]

    def _outer(self, key: Key | None, depth: int = 0) -> list[Condition]:
        """Return the enclosing tests further out, as long as there is one way in."""
        nodes = self._reached.get(key, []) if key is not None else []
        if not nodes or len(nodes[0].edges) != 1 or depth > 6:
            return []
        edge = nodes[0].edges[0]
        here = [
            _condition(atom, edge.guard_path, caller=True) for atom in edge.guard if atom.how in _ENCLOSING
        ]
        return (self._outer(edge.caller, depth + 1) + here)[-_MOST_OUTER:]


def _condition(atom: Atom, path: str, caller: bool = False) -> Condition:
    how = f"caller {atom.how}" if caller else atom.how
    return Condition(atom.expr.text, atom.holds, Location(path, atom.line), how=how)


def _simplified(conditions: list[Condition]) -> list[Condition]:
    """Drop what a later test implies: ``x in ["a"]`` says that an earlier ``x in ["b"]`` was false."""
    decided: dict[str, list[frozenset[str]]] = {}
    for one in conditions:
        if one.holds and (member := membership(one.text)) is not None:
            decided.setdefault(member[0], []).append(member[1])

    def implied(one: Condition) -> bool:
        """A conjunction is false as soon as one part contradicts a test that holds."""
        parts = [] if one.holds else one.text.split(" and ")
        members = (membership(part) for part in parts)
        return any(
            not member[1] & values
            for member in members
            if member is not None
            for values in decided.get(member[0], ())
        )

    return [one for one in conditions if not implied(one)]


def membership(text: str) -> tuple[str, frozenset[str]] | None:
    """Return what ``x == "a"`` or ``x in ("a", "b")`` tests and against which constants."""
    match = _MEMBER.match(text)
    if match is None:
        return None
    try:
        values = ast.literal_eval(match.group(3))
    except (ValueError, SyntaxError):
        return None
    single = isinstance(values, (str, int, type(None)))
    if single != (match.group(2) == "=="):
        return None
    return match.group(1), frozenset(map(repr, [values] if single else values))


def _either(alternatives: list[list[Condition]]) -> list[Condition]:
    """Return the conditions common to all call sites, and one that lists how they differ."""
    common = [
        one for one in alternatives[0] if all(_same(one) in map(_same, other) for other in alternatives[1:])
    ]
    shared = set(map(_same, common))
    rest = [[one for one in each if _same(one) not in shared] for each in alternatives]
    if any(not each for each in rest):
        return common
    wordings = list(dict.fromkeys(" and ".join(_worded(one) for one in each) for each in rest))
    if len(wordings) == 1:
        return common + rest[0]
    text = " or ".join(f"({one})" for one in wordings[:_MOST_ALTERNATIVES])
    if len(wordings) > _MOST_ALTERNATIVES or len(text) > _LONGEST:
        text = text[:_LONGEST].rstrip() + " …"
    return [*common, Condition(text, True, rest[0][0].at, how="callers")]


def _same(condition: Condition) -> tuple[str, bool]:
    return condition.text, condition.holds


def _worded(condition: Condition) -> str:
    if not condition.holds:
        return f"not ({condition.text})"
    return f"({condition.text})" if " or " in condition.text else condition.text


def _contradicted(guard: Iterable[Atom], literals: dict[str, str]) -> bool:
    """Return whether constant arguments of a call site make a guard false."""
    return any(_truth(atom.expr.text, literals) is (not atom.holds) for atom in guard)


def _truth(text: str, literals: dict[str, str]) -> bool | None:
    if text in literals:
        return bool(_value(literals[text]))
    match = _COMPARISON.match(text)
    if match is None or match.group(1) not in literals:
        return None
    left, right = _value(literals[match.group(1)]), _value(match.group(3))
    if right is ...:
        return None
    return (left == right) is (match.group(2) in ("is", "=="))


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...
