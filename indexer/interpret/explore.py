"""Running a program once for every combination of answers to what is not known.

A path is replayed from the start with a script of answers; the questions it asked beyond the script
are the branches still to try. Replaying keeps the order of effects exact, which joining half-run heaps
would not.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexer.interpret.unknown import Decisions, Fork, following

Result = TypeVar("Result")

DEFAULT_PATHS = 48


Script = tuple[bool, ...]
"""Answers to the first questions of a path."""


@dataclass
class ExploredPath(Generic[Result]):
    """One path: what it gave and which questions were answered how."""

    result: Result
    forks: list[Fork]


@dataclass
class Exploration(Generic[Result]):
    """All paths that were run; ``complete`` is False where not all that are possible were."""

    paths: list[ExploredPath[Result]]
    complete: bool


def run_script(run: Callable[[], Result], script: Script) -> ExploredPath[Result]:
    """Run the path on which the first questions are answered as ``script`` says, later ones with no."""
    decisions = Decisions(script)
    with following(decisions):
        result = run()
    _forget_types()
    return ExploredPath(result, decisions.forks)


def _forget_types() -> None:
    """Drop what ``typing`` remembers of interpreted classes: it would keep whole programs alive."""
    for forget in getattr(typing, "_cleanups", ()):
        forget()


def explore(run: Callable[[], Result], most_paths: int = DEFAULT_PATHS) -> Exploration[Result]:
    """Run every path through ``run``, which must behave the same each time but for the answers."""
    return explore_with(lambda scripts: [run_script(run, script) for script in scripts], most_paths)


def explore_with(
    run_all: Callable[[Sequence[Script]], Sequence[ExploredPath[Result]]],
    most_paths: int = DEFAULT_PATHS,
    at_once: int = 1,
    settled: Callable[[Sequence[ExploredPath[Result]]], bool] = lambda paths: False,
    latest_first: bool = False,
) -> Exploration[Result]:
    """Run every path, ``at_once`` of them together, until ``settled`` says that more would add nothing.

    The order of paths, and which are run where there are too many, hang on nothing else: the earliest
    question's other answer is tried next, or the latest's.
    """
    pending: list[Script] = [()]
    paths: list[ExploredPath[Result]] = []
    while pending:
        room = min(at_once, len(pending), most_paths - len(paths))
        if room <= 0 or settled(paths):
            return Exploration(paths, complete=False)
        scripts = [pending.pop() for _ in range(room)]
        found = run_all(scripts)
        paths += found
        # What is tried next is the last to be appended.
        for script, path in reversed([*zip(scripts, found, strict=True)]):
            answers = tuple(fork.answer for fork in path.forks if not fork.forced)
            beyond = range(len(script), len(answers))
            for index in beyond if latest_first else reversed(beyond):
                pending.append((*answers[:index], not answers[index]))
    return Exploration(paths, complete=True)
