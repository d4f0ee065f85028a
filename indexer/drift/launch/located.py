"""Text that remembers where in the file each of its characters stands.

A launch is rarely written letter by letter in one place: a YAML block is indented, a string has
escapes, a make variable is substituted. Every reader therefore passes located text on.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from indexer.drift.launch.model import DYNAMIC

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Located:
    """A string with, for each character, its offset in the file.

    Offsets are kept as runs ``(begin in text, offset in file)``: within a run they count up together.
    """

    __slots__ = ("_begins", "_offsets", "text")

    def __init__(self, text: str, runs: Iterable[tuple[int, int]] = ((0, 0),)) -> None:
        self.text = text
        pairs = list(runs) or [(0, 0)]
        self._begins = [begin for begin, _ in pairs]
        self._offsets = [offset for _, offset in pairs]

    def __len__(self) -> int:
        return len(self.text)

    def at(self, position: int) -> int:
        """Return the file offset of the character at ``position``."""
        index = max(0, bisect_right(self._begins, position) - 1)
        return self._offsets[index] + position - self._begins[index]

    def runs(self) -> list[tuple[int, int]]:
        """Return the runs, to build a changed text that keeps its places."""
        return list(zip(self._begins, self._offsets, strict=True))

    def literal_end(self) -> int:
        """Return the file offset up to which the text is written letter by letter."""
        first = self._begins[1] if len(self._begins) > 1 else len(self.text)
        return self.at(0) + first

    def cut(self, begin: int, end: int | None = None) -> Located:
        """Return the part from ``begin`` to ``end``."""
        end = len(self.text) if end is None else end
        runs = [(0, self.at(begin))]
        runs += [
            (start - begin, offset)
            for start, offset in zip(self._begins, self._offsets, strict=True)
            if begin < start < end
        ]
        return Located(self.text[begin:end], runs)

    def ascii(self) -> bytes:
        """Return the text for a byte-offset parser: one byte per character, so offsets agree."""
        if self.text.isascii():
            return self.text.encode("ascii")
        return _NOT_ASCII.sub("x", self.text).encode("ascii")


class Builder:
    """Puts located text together piece by piece."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._runs: list[tuple[int, int]] = []
        self._length = 0

    def add(self, text: str, offset: int) -> None:
        """Append text that stands at ``offset`` in the file."""
        if not text:
            return
        if not self._runs or self._runs[-1][1] + self._length - self._runs[-1][0] != offset:
            self._runs.append((self._length, offset))
        self._parts.append(text)
        self._length += len(text)

    def add_located(self, piece: Located) -> None:
        """Append a piece that is already located."""
        position = 0
        for bound in [*(begin for begin, _ in piece.runs()[1:]), len(piece.text)]:
            self.add(piece.text[position:bound], piece.at(position))
            position = bound

    def done(self) -> Located:
        """Return what was put together."""
        return Located("".join(self._parts), self._runs)


def whole(text: str) -> Located:
    """Return a whole file. Carriage returns before newlines are left out, as shells' editors do."""
    if "\r\n" not in text:
        return Located(text)
    builder, position = Builder(), 0
    for match in re.finditer(r"\r\n", text):
        builder.add(text[position : match.start()], position)
        position = match.start() + 1
    builder.add(text[position:], position)
    return builder.done()


def blank(located: Located, pattern: re.Pattern[str], fill: str = DYNAMIC) -> Located:
    """Return the text with each match replaced by as many ``fill``: what a template would put there
    isn't known, but everything behind keeps its place."""
    replaced = pattern.sub(lambda match: re.sub(r"[^\n]", fill, match.group()), located.text)
    return Located(replaced, located.runs())


def align(value: str, raw: Located, *, double_quoted: bool = False) -> Located:
    """Locate a decoded scalar in the raw text that it was decoded from.

    Works for every style that keeps the order of characters (folded, indented, quoted): blanks of the
    value stand for any run of blanks in the raw text, other characters for themselves.
    """
    builder, at, text = Builder(), 0, raw.text
    size = len(text)
    for char in value:
        if char.isspace():
            width = 1
            if double_quoted and text[at : at + 1] == "\\" and text[at + 1 : at + 2] in ("n", "t", "r"):
                width = 2
            elif at >= size or not text[at].isspace():
                width = 0
            builder.add(char, raw.at(min(at, size - 1) if size else 0))
            at += width
            continue
        while at < size and text[at] != char:
            if double_quoted and text[at] == "\\":
                step = {"x": 4, "u": 6, "U": 10}.get(text[at + 1 : at + 2], 2)
                if step > 2 or text[at + 1 : at + 2] == char:
                    if step == 2:
                        at += 1
                    break
                at += step
            elif text[at].isspace() or text[at] in "\\'\"":
                at += 1
            else:
                break
        builder.add(char, raw.at(min(at, size - 1) if size else 0))
        if double_quoted and text[at : at + 1] == "\\":
            at += {"x": 4, "u": 6, "U": 10}.get(text[at + 1 : at + 2], 2)
        else:
            at += 1
    return builder.done()
