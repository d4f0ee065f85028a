"""Where the shell ends a command before its author did: the options below are lost.

A backslash with blanks behind it continues no line, and neither does a comment between continued lines; and
sometimes the backslash is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.drift.launch.model import Launch, Word
from indexer.drift.lint.argv import walk
from indexer.drift.lint.facts import VersionTable
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.serve import words_of_parser
from indexer.drift.report.record import MEANING, START

LINE_BY_LINE = frozenset({"shell", "markdown", "yaml"})
"""Kinds of files in which a shell reads the lines. Docker takes the blanks away."""
_LINE_END = re.compile(r"\\[ \t]*\r?$")
_BROKEN = re.compile(r"(?P<before>[ \t]*)(?P<at>\\[ \t]+)\r?\n[ \t]*$")
_COMMENT = re.compile(
    r"[ \t]*\\\r?\n[ \t]*(?P<at>#[^\r\n]*)\r?\n(?:[ \t]*#[^\n]*\n)*[ \t]*(?P<lost>--[A-Za-z][\w-]*)"
)
_UNCONTINUED = re.compile(r"[ \t]*\r?\n[ \t]*(?P<lost>--[A-Za-z][\w-]*)")
_OTHER_SHELLS = frozenset(["^", "`"])
"""What continues a line on Windows."""


def broken_continuations(launch: Launch, text: str, kind: str, table: VersionTable) -> Iterator[Raw]:
    """Yield a finding where the command of a launch ends in the middle of its words, or before its program.

    The backslash makes a word of the blank behind it; START where argparse refuses that word.
    """
    for at, behind in _above(text, launch.offset):
        told = "the command ends there, and the line below is one of its own"
        yield _raw(MEANING, at, behind, told)
    words = launch.words
    ends = [words[0].start if words else 0, *(word.end for word in words)]
    ends[0] = launch.offset + len(launch.entry)
    for index, (end, word) in enumerate(zip(ends, words, strict=False)):
        match = _BROKEN.match(text, end, word.start) if end <= word.start else None
        if match is None:
            continue
        at, behind = match.span("at")
        cut = words[:index]
        refused = bool(match["before"]) and _leaves_a_word(launch, cut, Word(" ", at, behind), table)
        lost = f"{word.text.partition('=')[0]} and what follows never reach the server"
        what = "the server refuses the blank as a word too many" if refused else "the command ends there"
        yield _raw(START if refused else MEANING, at, behind, f"{what}, and {lost}")
        return
    comment = _COMMENT.match(text, words[-1].end) if words else None
    if comment is not None:
        yield Raw(
            "invalid-value",
            MEANING,
            "a comment between continued lines ends the command: "
            f"{comment['lost']} and what follows never reach the server",
            *comment.span("at"),
        )
    open_line = _UNCONTINUED.match(text, words[-1].end) if words and kind != "yaml" else None
    if open_line is not None and kind == "markdown" and not _continues(text, launch, open_line.end()):
        return  # guides list options below a command
    if open_line is not None and words[-1].text not in _OTHER_SHELLS:
        yield Raw(
            "invalid-value",
            MEANING,
            f"no backslash continues the line: {open_line['lost']} and what follows never reach the server",
            words[-1].end - 1,
            words[-1].end,
        )


def _continues(text: str, launch: Launch, end: int) -> bool:
    """Whether the command, or the line that begins before ``end``, is continued anywhere."""
    line_end = text.find("\n", end)
    command = text[launch.offset : line_end if line_end >= 0 else len(text)]
    return any(_LINE_END.search(line) for line in command.split("\n"))


def _raw(level: str, at: int, behind: int, told: str) -> Raw:
    message = f"a blank follows the backslash, so the line is not continued: {told}"
    return Raw("invalid-value", level, message, at, behind, replacement="\\", fix="\\")


def _above(text: str, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the broken continuations in the lines above that belong to the command at ``offset``."""
    begin = text.rfind("\n", 0, offset) + 1
    while begin > 0:
        end, begin = begin - 1, text.rfind("\n", 0, begin - 1) + 1
        line = text[begin:end]
        match = _LINE_END.search(line)
        if match is None or line.lstrip().startswith("#"):
            return
        if len(match[0].rstrip("\r")) > 1:
            yield begin + match.start(), begin + len(line.rstrip("\r"))


def _leaves_a_word(launch: Launch, words: list[Word], blank: Word, table: VersionTable) -> bool:
    """Whether argparse refuses a blank behind the words."""
    walked = walk(words_of_parser(launch.program, [*words, blank]), table)
    return launch.program in ("server", "serve") and any(one.word is blank for one in walked.problems)
