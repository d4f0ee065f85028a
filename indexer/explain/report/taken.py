"""The steps that the resolver took, each with the checks of it that were reached."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from indexer.explain.start.standin import at_definition
from indexer.explain.steps import Step
from indexer.knowledge.schema import Location, Rule, Snapshot
from indexer.source.tree import SourceTree

_REFUSES = ("error", "assert")


class TakenStep(msgspec.Struct, omit_defaults=True):
    """A step of the resolver: what it is, from where it is called, what it wrote and what it checked.

    ``checks`` are the refusals whose test ran, by rule id, each with the line that refuses.
    """

    function: str
    at: Location
    called_at: Location
    sets: dict[str, Location] = {}
    checks: dict[str, Location] = {}


def checking_functions(snapshot: Snapshot) -> frozenset[tuple[str, str]]:
    """Return the functions that can refuse a launch, by path and qualified name."""
    return frozenset((rule.at.path, rule.function) for rule in snapshot.rules if rule.kind in _REFUSES)


def taken(tree: SourceTree, snapshot: Snapshot, steps: list[Step]) -> list[TakenStep]:
    """Return the steps with their checks, in the order they were taken."""
    rules: dict[str, list[Rule]] = defaultdict(list)
    for rule in snapshot.rules:
        if rule.kind in _REFUSES:
            rules[rule.at.path].append(rule)
    return [
        TakenStep(
            step.function, at_definition(tree, step.at), step.called_at, step.sets, _checks(step, rules)
        )
        for step in steps
    ]


def _checks(step: Step, rules: dict[str, list[Rule]]) -> dict[str, Location]:
    return {
        rule.id: rule.at
        for path, lines in step.ran.items()
        for rule in rules.get(path, ())
        if not _tests(rule).isdisjoint(lines)
    }


def _tests(rule: Rule) -> set[int]:
    """Return the lines of which one runs where a check is reached: its test's, or its own."""
    own = set(range(rule.at.line, (rule.at.end_line or rule.at.line) + 1))
    if rule.kind == "assert":
        return own
    tests = [one.at.line for one in rule.guard if one.at is not None and one.how == "if"]
    return own | set(tests[-1:])
