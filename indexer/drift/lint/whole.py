"""Launches whose argument list a file tells whole: only there a conflict, or what is missing, is certain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.drift.launch.model import DYNAMIC, Launch, Word
from indexer.drift.lint.argv import Use, walk
from indexer.drift.lint.evaluate import Untold
from indexer.drift.lint.facts import VersionTable, value_count
from indexer.drift.lint.serve import words_of_parser

PLACEHOLDER = Untold("/not/told/by/the/file")
"""Stands for a path or name that a variable holds: no rule can decide on its content."""
_FREE_ENDINGS = ("_path", "_name", "_key", "_dir", "_addr", "host", "port", "_file", "_revision", "_url")
"""Ends of the dests whose value may be unknown without making the launch unknown."""


_ELSEWHERE = re.compile(r"[$`…<\[]|\.\.\.|\{[{%]|%[A-Za-z]")
"""What may stand for words that the file doesn't tell."""
_COMMAND_FILES = frozenset(["shell", "systemd"])
_ENDS = re.compile(r"(?<!\\)(?<!\\\r)(?:\r?\n|\Z)")


def note_completeness(launch: Launch, text: str, kind: str) -> None:
    """Mark a launch that is a command written in one place, so that what isn't there is missing."""
    words = launch.words
    if not (launch.direct and words and kind in _COMMAND_FILES) or launch.open_end or launch.partial:
        return
    begin = text.rfind("\n", 0, launch.offset) + 1
    last = _ENDS.search(text, max(word.end for word in words))
    command = text[begin : last.start() if last else len(text)]
    here = all(begin <= word.start and not word.branch and word.known for word in words)
    launch.told = here and launch.program == "server" and _ELSEWHERE.search(command) is None


def _one_value(words: list[Word], table: VersionTable) -> Iterator[Word]:
    """Yield the words with one unknown word for the values that an option gets in different branches."""
    before: Word | None = None
    merging = False
    for word in words:
        may_be_value = word.branch != 0 and not word.text.startswith("-")
        if may_be_value and merging:
            continue
        merging = may_be_value and before is not None and _takes_one_value(before, table)
        yield Word(DYNAMIC, word.start, word.end) if merging else word
        before = word


def _takes_one_value(word: Word, table: VersionTable) -> bool:
    meant = table.meant(word.text)
    return word.branch == 0 and len(meant) == 1 and value_count(table.by_option[meant[0]]) is None


def complete_uses(launch: Launch, table: VersionTable, *, values_told: bool = True) -> list[Use] | None:
    """Return the options of a launch whose argument list the file tells whole, else None; without
    ``values_told`` the one value of an option may be unknown (``--tp $TP``)."""
    if launch.program not in ("server", "serve") or launch.open_end or launch.config or not launch.words:
        return None
    words = words_of_parser(launch.program, launch.words)
    if not values_told:
        words = list(_one_value(words, table))
    if any(word.branch for word in words):
        return None
    walked = walk(words, table)
    if walked.opaque or walked.problems:
        return None
    for use in walked.uses:
        if use.flag.dest == "config":
            return None
        untold = [word for word in use.values if not word.known]
        if untold and values_told and not use.flag.dest.endswith(_FREE_ENDINGS):
            return None
        if any(word.splits for word in untold) and value_count(use.flag) is not None:
            return None  # more words than one may stand for it
    return walked.uses
