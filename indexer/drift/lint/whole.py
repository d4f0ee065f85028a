"""Launches whose argument list a file tells whole: only there a conflict, or what is missing, is certain."""

from __future__ import annotations

import re

from indexer.drift.launch.model import Launch
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


def complete_uses(launch: Launch, table: VersionTable, *, values_told: bool = True) -> list[Use] | None:
    """Return the options of a launch whose argument list the file tells whole, else None; without
    ``values_told`` the one value of an option may be unknown (``--tp $TP``)."""
    if launch.program not in ("server", "serve") or launch.open_end or launch.config or not launch.words:
        return None
    if any(word.branch for word in launch.words):
        return None
    walked = walk(words_of_parser(launch.program, launch.words), table)
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
