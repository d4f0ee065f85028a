"""Rehearsing a launch: the resolver's steps on what the file tells, to see what is certain.

Everything that depends on the model, the GPU or the environment is unknown here, and what an unknown
step may write becomes unknown. So a refusal or a final value that comes out is certain for any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from indexer.drift.lint.evaluate import Crash, Evaluate, State, compiled, condition, names_in
from indexer.knowledge.rehearsal import FOLLOWED, Step

MOST_PATHS = 6
"""So many ways are followed; what would make more is unknown from there on."""


@dataclass(slots=True)
class Path:
    """One way through the steps. ``changed`` are the fields that are not as usual, ``asked`` the values of
    conditions on them. ``refused`` is the step that stops the launch, by ``exception``;
    without one ``state`` are the fields' final values and ``by`` the step that wrote each last.
    ``crash`` is the expression that Python can't evaluate, where that is what stops it."""

    state: dict[str, Any]
    refused: Step | None = None
    exception: str = ""
    crash: str = ""
    by: dict[str, Step] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    asked: dict[str, Any] = field(default_factory=dict)

    def write(self, name: str, value: Any, conditions: Sequence[str]) -> None:
        """Set a field; what was asked of it, by its ``conditions``, is to be asked again."""
        if self.state.get(name, self) is value:
            return
        self.state[name] = value
        self.changed.add(name)
        for text in conditions:
            self.asked.pop(text, None)


class Usual:
    """What a launch without options gives each condition: ``base`` are its fields. Nearly all conditions of
    nearly all launches ask for nothing else, so that they are evaluated once for all."""

    def __init__(self, base: State, steps: Sequence[Step]) -> None:
        self.base = base
        self.naming: dict[str, list[str]] = {}
        for text in {text for step in steps for text in step.guard}:
            for name in names_in(text):
                self.naming.setdefault(name, []).append(text)
        self._steps: dict[Step, Any] = {}
        self._conditions: dict[str, Any] = {}

    def step(self, step: Step) -> Any:
        """Return what ``_holds`` says of a step."""
        if step not in self._steps:
            self._steps[step] = _holds(step, Path(dict(self.base)), self)
        return self._steps[step]

    def condition(self, text: str, evaluate: Evaluate) -> Any:
        """Return a condition's value, or the ``Crash`` that comes of asking."""
        if text not in self._conditions:
            self._conditions[text] = _value_of(evaluate, self.base)
        return self._conditions[text]


def rehearse(steps: Sequence[Step], given: State, told: Set[str], usual: Usual | None = None) -> list[Path]:
    """Take the steps in order, beginning with the fields ``given``; return every way it may go.

    Only a refusal that asks for one of the fields ``told`` counts: a launch is never refused for what
    its file doesn't say.
    """
    usual = usual or Usual(given, steps)
    done: list[Path] = []
    changed = {name for name, value in given.items() if value is not usual.base.get(name, given)}
    pending = [(0, Path(dict(given), changed=changed))]
    while pending:
        start, path = pending.pop()
        for index in range(start, len(steps)):
            step = steps[index]
            if asked(step).isdisjoint(path.changed):
                holds = usual.step(step)
            else:
                holds = _holds(step, path, usual)
            if holds is False:
                continue
            may_part = len(done) + len(pending) + 1 < MOST_PATHS
            other = _take(step, holds, path, told, may_part, usual.naming)
            if other is not None:
                pending.append((index + 1, other))
            if path.refused is not None:
                break
        done.append(path)
    return done


def _take(
    step: Step, holds: Any, path: Path, told: Set[str], may_part: bool, naming: Mapping[str, Sequence[str]]
) -> Path | None:
    """Take one step that may hold; return the path on which it isn't taken where both are followed."""
    state, other = path.state, None
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
                other = Path(dict(state), by=dict(path.by), changed=set(path.changed), asked=dict(path.asked))
            else:
                value = ...
        if value is ... and name.endswith("model_path"):
            continue  # another place of the same model
        path.write(name, value, naming.get(name, ()))
        path.by[name] = step
    return other


@cache
def asked(step: Step) -> frozenset[str]:
    """Return the fields that a step's guard asks for."""
    return frozenset().union(*(names_in(text) for text in step.guard))


@cache
def _conditions(step: Step) -> tuple[tuple[str, frozenset[str], Evaluate], ...]:
    return tuple((text, names_in(text), condition(text)) for text in step.guard)


def _value_of(evaluate: Evaluate, state: State) -> Any:
    try:
        return evaluate(state)
    except Crash as crash:
        return crash


def _holds(step: Step, path: Path, usual: Usual) -> Any:
    """Return True, False, ``...``, or the ``Crash`` that comes of asking."""
    sure = True
    for text, names, evaluate in _conditions(step):
        if names.isdisjoint(path.changed):
            value = usual.condition(text, evaluate)
        elif text in path.asked:
            value = path.asked[text]
        else:
            value = path.asked[text] = _value_of(evaluate, path.state)
        if isinstance(value, Crash):
            if sure and "..." not in step.guard:
                return Crash(*value.args, text)
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
