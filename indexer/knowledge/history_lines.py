"""The lines of many facts through many releases, told by what moved.

Where a line is added, all below it move alike. So only a place's last line is kept with it; going back, a
release is told per file by the shifts of its places against the release after, in the order of their lines
and with repetitions counted. The newest release needs no shifts at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from indexer.knowledge.runs import repeated, repeats

Move = tuple[int, int, list[int]]
"""``(release, path, shifts)``: from ``release`` to the one after, ``shifts`` as ``repeats``."""


class Stretch(NamedTuple):
    """A place in one file through consecutive releases ``since`` to ``until``; ``line`` in the last."""

    since: int
    until: int
    path: int
    line: int


def moves_of(stretches: Sequence[Stretch], lines: Sequence[Sequence[int]]) -> list[Move]:
    """Return the moves of ``stretches``, whose lines in every release are ``lines``."""
    moves: list[Move] = []
    newest = max((one.until for one in stretches), default=0)
    for release in range(newest - 1, -1, -1):
        by_path: dict[int, list[tuple[int, int, int]]] = {}
        for member, one in enumerate(stretches):
            if one.since <= release < one.until:
                now, after = lines[member][release - one.since], lines[member][release + 1 - one.since]
                by_path.setdefault(one.path, []).append((after, member, after - now))
        for path, moved in sorted(by_path.items()):
            shifts = [shift for _, _, shift in sorted(moved)]
            if any(shifts):
                moves.append((release, path, repeats(shifts)))
    return moves


class Lines:
    """The lines of all stretches, worked out backwards as far as asked."""

    def __init__(self, stretches: Sequence[Stretch], moves: Iterable[Move]) -> None:
        self._stretches = stretches
        self._moves = {(release, path): shifts for release, path, shifts in moves}
        self._ending: dict[int, list[int]] = {}
        for member, one in enumerate(stretches):
            self._ending.setdefault(one.until, []).append(member)
        self._release = max(self._ending, default=0) + 1
        self._found: dict[int, dict[int, int]] = {self._release: {}}

    def line(self, member: int, release: int) -> int:
        """Return the line of a stretch in a release in which it exists."""
        while self._release > release:
            self._step_back()
        return self._found[release][member]

    def _step_back(self) -> None:
        after = self._found[self._release]
        self._release -= 1
        release = self._release
        staying: dict[int, list[tuple[int, int]]] = {}
        for member, line in after.items():
            one = self._stretches[member]
            if one.since <= release:
                staying.setdefault(one.path, []).append((line, member))
        now: dict[int, int] = {}
        for path, places in staying.items():
            shifts = self._moves.get((release, path))
            if shifts is None:
                now.update((member, line) for line, member in places)
            else:
                moved = zip(sorted(places), repeated(shifts), strict=True)
                now.update((member, line - shift) for (line, member), shift in moved)
        for member in self._ending.get(release, ()):
            now[member] = self._stretches[member].line
        self._found[release] = now
