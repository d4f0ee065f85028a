"""Dashes that a word processor or a web page put where hyphens belong: ``—tp``, ``–-tp``, ``--tp‑size``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from indexer.drift.launch.model import Word
from indexer.drift.lint.argv import Walked
from indexer.drift.lint.facts import Timeline, VersionTable

_DASH = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_OPTION = re.compile(r"-+([A-Za-z][\w-]*)$")


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


def dashed_words(
    words: Sequence[Word], walked: Walked, table: VersionTable, timeline: Timeline
) -> Iterator[tuple[Word, str, str, str | None]]:
    """Yield ``(word, as spelled, the option that was meant, who takes it)`` for the words that argparse does
    not even take for an option.

    The last is the option that swallows the word as a value, None where it is left over and refused.
    """
    taken = {id(word): use for use in walked.uses for word in use.values}
    told = {id(problem.word) for problem in walked.problems if problem.kind != "stray"}
    for word in words:
        spelled = word.text.partition("=")[0]
        meant = with_hyphens(spelled) if not spelled.startswith("-") and id(word) not in told else None
        if meant is None:
            continue
        begun = table.matches(meant)
        if meant in timeline.spellings or len(begun) == 1:
            use = taken.get(id(word))
            full = begun[0] if len(begun) == 1 else meant
            yield word, spelled, full, use.spelled if use else None
