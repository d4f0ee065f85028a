"""Rehearsing a launch: the resolver's steps on what the file tells, to see what is certain.

Everything that depends on the model, the GPU or the environment is unknown here, and what an unknown
step may write becomes unknown. So a refusal or a final value that comes out is certain for any of them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from indexer.drift.lint.evaluate import Crash, State, compiled, condition, names_in
from indexer.knowledge.rehearsal import FOLLOWED, Step

MOST_PATHS = 6
"""So many ways are followed; what would make more is unknown from there on."""


@dataclass(slots=True)
class Path:
    """One way through the steps. ``refused`` is the step that stops the launch, by ``exception``;
    without one ``state`` are the fields' final values and ``by`` the step that wrote each last.
    ``crash`` is the expression that Python can't evaluate, where that is what stops it."""

    state: dict[str, Any]
    refused: Step | None = None
    exception: str = ""
    crash: str = ""
    by: dict[str, Step] = field(default_factory=dict)


def rehearse(steps: Sequence[Step], given: State, told: Set[str]) -> list[Path]:
    """Take the steps in order, beginning with the fields ``given``; return every way it may go.

    Only a refusal that asks for one of the fields ``told`` counts: a launch is never refused for what
    its file doesn't say.
    """
    done: list[Path] = []
    pending = [(0, Path(dict(given)))]
    while pending:
        start, path = pending.pop()
        for index in range(start, len(steps)):
            other = _take(steps[index], path, told, len(done) + len(pending) + 1 < MOST_PATHS)
            if other is not None:
                pending.append((index + 1, other))
            if path.refused is not None:
                break
        done.append(path)
    return done


def _take(step: Step, path: Path, told: Set[str], may_part: bool) -> Path | None:
    """Take one step; return the path on which it isn't taken where both are followed."""
    state, other = path.state, None
    holds = _holds(step, state)
    if holds is False:
        return None
    if (isinstance(holds, Crash) or (step.exception and holds is True)) and asked(step) & told:
        path.refused, path.exception = step, step.exception
        if isinstance(holds, Crash):
            path.exception, path.crash = holds.args
        return None
    for name, text in step.writes:
        value = _value(text, state)
        if holds is not True:
            known = value is not ... and state.get(name, ...) is not ...
            if known and value == state[name]:
                continue
            if known and may_part and (name in FOLLOWED or (name in told and isinstance(value, bool))):
                other = Path(dict(state), by=dict(path.by))
            else:
                value = ...
        if value is ... and name.endswith("model_path"):
            continue  # another place of the same model
        state[name] = value
        path.by[name] = step
    return other


@cache
def asked(step: Step) -> frozenset[str]:
    """Return the fields that a step's guard asks for."""
    return frozenset().union(*(names_in(text) for text in step.guard))


def _holds(step: Step, state: State) -> Any:
    """Return True, False, ``...``, or the ``Crash`` that comes of asking."""
    sure = True
    for text in step.guard:
        try:
            value = condition(text)(state)
        except Crash as crash:
            if sure and "..." not in step.guard:
                return Crash(*crash.args, text)
            value = ...
        if value is ...:
            sure = False
        elif not value:
            return False
    return True if sure else ...


def _value(text: str, state: State) -> Any:
    try:
        return compiled(text)(state)
    except Crash:
        return ...
