"""Shell fields: located text that will be one argument, perhaps several, perhaps none."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import DYNAMIC


class Field(Located):
    """A field about which more is known than its text: see ``Word`` for the two attributes."""

    __slots__ = ("branch", "splits")

    def __init__(
        self, text: str, runs: Iterable[tuple[int, int]], *, splits: bool = False, branch: int = 0
    ) -> None:
        super().__init__(text, runs)
        self.splits = splits
        self.branch = branch


Fields = list[Located]


def splits(piece: Located) -> bool:
    """True when the field may become any number of arguments."""
    return isinstance(piece, Field) and piece.splits


def branch(piece: Located) -> int:
    """Return the field's branch; 0: it is there in every case."""
    return piece.branch if isinstance(piece, Field) else 0


def branched(piece: Located) -> Located:
    """Return the field as one that is there in one branch only."""
    return Field(piece.text, piece.runs(), splits=splits(piece), branch=1)


def unknown(here: Located, *, splits: bool) -> Located:
    """Return a field whose text the file doesn't tell."""
    return Field(DYNAMIC, [(0, here.at(0))], splits=splits)


def empty(text: Located, position: int) -> Located:
    """Return an empty field that stands at ``position``."""
    return Located("", [(0, text.at(position))])


WORD_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
ANSI_C_ESCAPE = re.compile(r"\\([\\'\"])")
STRING_ESCAPE = re.compile(r'\\(\n|[$`"\\])')


def unescape(here: Located, pattern: re.Pattern[str]) -> Located:
    """Return the text with its backslash escapes undone."""
    if "\\" not in here.text:
        return here
    builder, position = Builder(), 0
    for match in pattern.finditer(here.text):
        builder.add_located(here.cut(position, match.start()))
        if match[1] != "\n":
            builder.add(match[1], here.at(match.start(1)))
        position = match.end()
    builder.add_located(here.cut(position))
    done = builder.done()
    return done if done.text else Located("", [(0, here.at(0))])


def drop(here: Located, pattern: re.Pattern[str]) -> Located:
    """Return the text without what the pattern matches."""
    builder, position = Builder(), 0
    for match in pattern.finditer(here.text):
        builder.add_located(here.cut(position, match.start()))
        position = match.end()
    builder.add_located(here.cut(position))
    return builder.done()


_FIELD = re.compile(r"""(?:[^\s"']|"(?:\\.|[^"\\])*"?|'[^']*'?)+""", re.DOTALL)


def split(piece: Located) -> Fields:
    """Split a value at blanks. Quotes are honoured: such values are usually run through ``eval``."""
    if not re.search(r"[\s\"']", piece.text):
        return [piece] if piece.text else []
    fields: Fields = []
    for match in _FIELD.finditer(piece.text):
        part = piece.cut(match.start(), match.end())
        text = part.text
        if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
            part = part.cut(1, len(text) - 1)
        if part.text == DYNAMIC:
            part = unknown(part, splits=True)
        fields.append(part)
    return fields


def join(fields: Fields, between: str = " ") -> Located:
    """Return the fields as one."""
    if len(fields) == 1:
        return fields[0]
    builder = Builder()
    for i, piece in enumerate(fields):
        if i and between:
            builder.add(between, piece.at(0))
        builder.add_located(piece)
    return builder.done()


def glue(parts: list[Fields]) -> Fields:
    """Concatenate: the last field of each part grows into the first of the next."""
    result: Fields = []
    for part in parts:
        if result and part:
            result[-1] = join([result[-1], part[0]], "")
            result += part[1:]
        else:
            result += part
    return result
