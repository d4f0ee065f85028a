"""Running a program once for every combination of answers to what is not known.

A path is replayed from the start with a script of answers; the questions it asked beyond the script
are the branches still to try. Replaying keeps the order of effects exact, which joining half-run heaps
would not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexer.interpret.unknown import Decisions, Fork, following

Result = TypeVar("Result")

DEFAULT_PATHS = 48


@dataclass
class ExploredPath(Generic[Result]):
    """One path: what it gave and which questions were answered how."""

    result: Result
    forks: list[Fork]


@dataclass
class Exploration(Generic[Result]):
    """All paths that were run; ``complete`` is False where the budget of paths ran out first."""

    paths: list[ExploredPath[Result]]
    complete: bool


def explore(run: Callable[[], Result], most_paths: int = DEFAULT_PATHS) -> Exploration[Result]:
    """Run every path through ``run``, which must behave the same each time but for the answers."""
    pending: list[tuple[bool, ...]] = [()]
    paths: list[ExploredPath[Result]] = []
    while pending:
        if len(paths) >= most_paths:
            return Exploration(paths, complete=False)
        script = pending.pop()
        decisions = Decisions(script)
        with following(decisions):
            result = run()
        paths.append(ExploredPath(result, decisions.forks))
        answers = tuple(fork.answer for fork in decisions.forks if not fork.forced)
        for index in range(len(answers) - 1, len(script) - 1, -1):
            pending.append((*answers[:index], not answers[index]))
    return Exploration(paths, complete=True)
