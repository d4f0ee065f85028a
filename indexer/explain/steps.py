"""The steps a resolver takes for one launch, in their order, noted while it runs.

The release's own calls say what a step is: a function that does nothing but call others one after the other
is no step but a list of them. A step's fields are those that were written while it ran; of its checks the
lines that ran are noted, so that one behind an early return does not count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType
from typing import Any

import msgspec

from indexer.explain.declared import Write
from indexer.explain.provenance import DECLARE, HOOK
from indexer.interpret.compiled import MARK
from indexer.knowledge.schema import Location

_LIST = 8
"""A function with this many calls that have an effect is the list of steps, whatever it writes itself."""


class Step(msgspec.Struct, omit_defaults=True):
    """A function that the resolver called: where it is defined, from where it is called, what it wrote.

    ``sets`` has the line that wrote a field last; ``ran`` the lines that ran of functions that were asked
    about, by path.
    """

    function: str
    at: Location
    called_at: Location
    sets: dict[str, Location] = {}
    ran: dict[str, list[int]] = {}


@dataclass
class _Call:
    code: CodeType
    line: int
    start: int
    end: int = 0
    calls: list[_Call] = field(default_factory=list)
    ran: set[tuple[str, int]] = field(default_factory=set)
    effect: bool = False


class _Writes(list[Write]):
    """Writes, before each of which the calls are brought up to date."""

    def __init__(self, before: Callable[[], None]) -> None:
        super().__init__()
        self._before = before

    def append(self, write: Write) -> None:
        self._before()
        super().append(write)


def _interpreted(frame: FrameType | None) -> FrameType | None:
    """Return a frame, or the nearest one above it, that runs interpreted code."""
    while frame is not None and frame.f_code.co_filename[:1] != MARK:
        frame = frame.f_back
    return frame


class Watcher:
    """Notes the calls of interpreted functions while the block of ``watching`` runs.

    Only calls are traced, and the lines of functions that were asked about: that a function has returned
    shows in who makes the next call or the next write. ``writes`` is where writes have to be noted.
    """

    def __init__(self, asked: Collection[tuple[str, str]]) -> None:
        self.writes: list[Write] = _Writes(self.synchronise)
        self._asked = asked
        self._root = _Call(_no_code.__code__, 0, 0)
        self._open: list[tuple[FrameType | None, _Call]] = [(None, self._root)]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note what is called in the block, by this thread."""
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(before)
            self._return_to(None)

    def _return_to(self, frame: FrameType | None) -> None:
        """Close the calls that have returned, as it is this frame that goes on."""
        while len(self._open) > 1 and self._open[-1][0] is not frame:
            self._open.pop()[1].end = len(self.writes)

    def synchronise(self) -> None:
        """Close the calls that have returned before what is noted now."""
        self._return_to(_interpreted(sys._getframe(1)))

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename[:1] != MARK:
            return None
        above = _interpreted(frame.f_back)
        if self._open[-1][0] is not above:
            self._return_to(above)
        call = _Call(code, above.f_lineno if above is not None else 0, len(self.writes))
        self._open[-1][1].calls.append(call)
        self._open.append((frame, call))
        asked = (code.co_filename[1:], code.co_qualname) in self._asked
        return partial(self._line, call) if asked else None

    def _line(self, call: _Call, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            call.ran.add((frame.f_code.co_filename[1:], frame.f_lineno))
        return partial(self._line, call)

    def steps(self) -> list[Step]:
        """Return the steps that were taken; repeated calls of one function in a row are one."""
        self._root.end = len(self.writes)
        self._find_effects(self._root)
        found: list[Step] = []
        for call in self._root.calls:
            if call.effect:
                at = Location(call.code.co_filename[1:], call.code.co_firstlineno)
                self._expand(call, at, False, found)
        return found

    def _find_effects(self, root: _Call) -> None:
        order = [root]
        for call in order:  # grows while it is run through
            order += call.calls
        for call in reversed(order):
            decided = _written(self.writes[call.start : call.end])
            call.effect = bool(decided) or bool(call.ran) or any(inner.effect for inner in call.calls)

    def _expand(self, call: _Call, called: Location, listed: bool, found: list[Step]) -> None:
        """Add the steps of a call made at a line; ``listed`` tells whether the list of steps is above it.

        What only passes on stands for what it calls. The list of steps, and what is above it, stands for
        its calls and for what it writes itself.
        """
        inner = [one for one in call.calls if one.effect and not _is_mechanism(one)]
        own = self._own_writes(call)
        if len(inner) == 1 and not own:
            self._expand(inner[0], called if listed else _line_in(call, inner[0]), listed, found)
            self._add(call, called, own, call.ran, found)
        elif inner and not listed:
            for one in inner:
                self._expand(one, _line_in(call, one), len(inner) >= _LIST, found)
            self._add(call, called, own, call.ran, found)
        else:
            self._add(call, called, _written(self.writes[call.start : call.end]), _all_lines(call), found)

    def _own_writes(self, call: _Call) -> dict[str, Location]:
        covered = {
            index for one in call.calls if not _is_mechanism(one) for index in range(one.start, one.end)
        }
        return _written([self.writes[one] for one in range(call.start, call.end) if one not in covered])

    def _add(
        self,
        call: _Call,
        called: Location,
        sets: dict[str, Location],
        ran: set[tuple[str, int]],
        found: list[Step],
    ) -> None:
        if not sets and not ran:
            return
        code = call.code
        at = Location(code.co_filename[1:], code.co_firstlineno, symbol=code.co_qualname)
        last = found[-1] if found else None
        if last is None or last.at != at:
            last = Step(code.co_qualname, at, called)
            found.append(last)
        last.sets |= sets
        lines = {file: set(known) for file, known in last.ran.items()}
        for file, line in ran:
            lines.setdefault(file, set()).add(line)
        last.ran = {file: sorted(known) for file, known in sorted(lines.items())}


def _written(writes: list[Write]) -> dict[str, Location]:
    """Return the fields that were written, each with the line that did it last."""
    return {one.name: Location(one.path, one.line, symbol=one.function) for one in writes if one.decides}


def _is_mechanism(call: _Call) -> bool:
    """Tell whether a call is how a field is read or written, or an import: no step of its own."""
    name = call.code.co_name
    return name in (DECLARE, HOOK, "<module>") or (name.startswith("__") and name != "__post_init__")


def _line_in(above: _Call, call: _Call) -> Location:
    return Location(above.code.co_filename[1:], call.line, symbol=above.code.co_qualname)


def _no_code() -> None:
    """What stands at the root of all calls."""


def _all_lines(call: _Call) -> set[tuple[str, int]]:
    found = set(call.ran)
    for one in call.calls:
        found |= _all_lines(one)
    return found
