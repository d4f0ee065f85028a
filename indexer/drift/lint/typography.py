"""Words that are meant for options and are none for argparse: with a dash of a word processor or a web
page where hyphens belong (``—tp``, ``–-tp``, ``--tp‑size``), or with their value in one (``"--tp 2"``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from indexer.drift.launch.model import DYNAMIC, Word
from indexer.drift.lint.argv import Walked
from indexer.drift.lint.facts import Timeline, VersionTable, value_count

_DASH = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_OPTION = re.compile(r"-+([A-Za-z][\w-]*)$")
_UNTOLD = re.compile(f"{DYNAMIC}+")
_GLUED = re.compile(r"(--[A-Za-z][\w-]*)\s+(\S.*)", re.DOTALL)


def with_hyphens(spelled: str) -> str | None:
    """Return the option that a word with typographic dashes was meant to be; None where it has none."""
    if spelled.isascii() or not _DASH.search(spelled):
        return None
    match = _OPTION.match(_DASH.sub("-", spelled))
    return f"--{match[1]}" if match else None


def dash_name(spelled: str) -> str:
    """Return what the first typographic dash of a word is called: ``an em dash (U+2014)``."""
    match = _DASH.search(spelled)
    assert match is not None
    name = unicodedata.name(match[0]).lower()
    article = "an" if name[0] in "aeiou" else "a"
    return f"{article} {name} (U+{ord(match[0]):04X})"


def glued_option(word: Word, table: VersionTable, timeline: Timeline) -> tuple[str, str] | None:
    """Return the option of SGLang's that a word begins with, and what else is in the word (``…`` for what the
    file doesn't tell); None where there is no such option, or nothing else."""
    match = _GLUED.fullmatch(word.text.strip())
    options = table.meant(match[1]) if match else []
    if match is None or not (options or match[1] in timeline.spellings):
        return None
    if not word.known and any(value_count(table.by_option[one]) == 0 for one in options):
        return None  # behind a switch a template may leave nothing
    return match[1], _UNTOLD.sub("…", match[2])


class Dashed(NamedTuple):
    """A word that argparse does not even take for an option.

    ``meant`` is the option that it was meant to be, where SGLang has one; ``taker`` the option that swallows
    it as a value, None where it is left over and refused.
    """

    word: Word
    spelled: str
    meant: str | None
    taker: str | None


def dashed_words(
    words: Sequence[Word], walked: Walked, table: VersionTable, timeline: Timeline
) -> Iterator[Dashed]:
    """Yield the words with a dash where an option begins."""
    taken = {id(word): use for use in walked.uses for word in use.values}
    told = {id(problem.word) for problem in walked.problems if problem.kind != "stray"}
    for word in words:
        spelled = word.text.partition("=")[0]
        meant = with_hyphens(spelled) if not spelled.startswith("-") and id(word) not in told else None
        if meant is None:
            continue
        begun = table.matches(meant)
        full = begun[0] if len(begun) == 1 else meant if meant in timeline.spellings else None
        use = taken.get(id(word))
        yield Dashed(word, spelled, full, use.spelled if use else None)
