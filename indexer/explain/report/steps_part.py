"""The report's part about the order in which the resolver's steps ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from indexer.explain.render import place
from indexer.explain.report.gather import Report
from indexer.explain.report.pieces import cite, section
from indexer.explain.report.taken import TakenStep
from indexer.knowledge.schema import Location

_MANY_STEPS = 4
_MOST_FIELDS = 8
_MOST_CHECKS = 4


def steps_part(report: Report) -> str:
    """Return the part: every step that set a field, or that can refuse a launch, in order."""
    shared = _everywhere(report.steps)
    rows = [
        (
            str(number),
            f"`{step.function}` {cite(step.at)}",
            place(step.called_at),
            _listed((f"`{name}` {cite(at)}" for name, at in step.sets.items()), _MOST_FIELDS),
            _checks({rule: at for rule, at in step.checks.items() if rule not in shared}),
        )
        for number, step in enumerate(report.steps, 1)
    ]
    if not rows:
        return ""
    table = section(
        "What the resolver does, in order", ("#", "step", "called at", "sets", "refusals checked"), rows
    )
    notes = [table]
    if shared:
        notes.append(f"Checked in many steps: {_listed(map(place, shared.values()), _MOST_FIELDS)}.")
    if report.answer.paths > 1:
        notes.append(f"This is one of {report.answer.paths} paths that unknown facts allow.")
    return "\n\n".join(notes)


def _everywhere(steps: list[TakenStep]) -> dict[str, Location]:
    """Return the checks that many steps come through: those of the way in which fields are written."""
    times = Counter(rule for step in steps for rule in step.checks)
    places = {rule: at for step in steps for rule, at in step.checks.items()}
    return {rule: places[rule] for rule, count in times.items() if count >= _MANY_STEPS}


def _checks(checks: dict[str, Location]) -> str:
    if not checks:
        return ""
    return f"{len(checks)}: " + _listed((place(at) for at in checks.values()), _MOST_CHECKS)


def _listed(texts: Iterable[str], most: int) -> str:
    every = list(texts)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
