"""Which of the known names somebody probably meant: one answer for every command that suggests names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

FIELD_TERMS = {
    "spec": ("speculative",),
    "speculation": ("speculative",),
    "speculative": ("speculation",),
    "mtp": ("nextn",),
    "nextn": ("mtp",),
    "tp": ("tensor", "parallel"),
    "dp": ("data", "parallel"),
    "pp": ("pipeline", "parallel"),
    "ep": ("expert", "parallel"),
    "ssm": ("mamba",),
    "algo": ("algorithm",),
    "mem": ("memory",),
    "oom": ("memory",),
    "acceptance": ("accept",),
    "accepted": ("accept",),
    "promptlookup": ("ngram",),
}
"""Words of the field that stand for others, all as ``plain`` writes them: ``prompt lookup`` is one word.

That MTP and NextN are one thing is what the releases themselves say: the draft classes that models have of
their own are named ``…MTP`` or ``…NextN`` (a test looks there)."""

_SUGGESTIONS = 3
_SHORTEST = 3
"""Fewest letters that may be the beginning of a name: fewer begin too many."""
_LETTERS_PER_EDIT = 5
"""One letter in so many may be wrong, missing, extra or swapped."""
_ALIKE = 0.75
"""Share of letters that two names have in common, in their order, to be alike at all."""
_MOST_WORDS_AWAY = 4
"""A name that has all words asked for may have so many more."""

_SAME, _TERM, _BEGUN, _MISTYPED, _WORDS, _LIKE = range(6)


def normal(name: str) -> str:
    """Return ``name`` without dashes before it, with ``-`` for ``_``, in lower case."""
    return name.strip().lstrip("-").replace("_", "-").casefold()


def bare(name: str) -> str:
    """Return a name without what is pasted with it: an option's or variable's value, a ``$``, a version."""
    stripped = name.strip().strip("${}").partition("@")[0]
    pasted = stripped.startswith("--") or "=" in stripped
    return re.split(r"[=\s]", stripped, maxsplit=1)[0] if pasted else stripped


@lru_cache(maxsize=10_000)
def plain(name: str) -> str:
    """Return the letters and digits of a name: what all its spellings have in common."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def nearest(wanted: str, names: Iterable[str], limit: int = _SUGGESTIONS) -> list[str]:
    """Return up to ``limit`` of ``names`` that ``wanted`` may stand for, best first; none if none is like it.

    In this order: the same letters in another spelling, another word of the field for the same thing, what
    it is the beginning of, a slip of a letter in a few, all its words, most of its letters.
    """
    short = plain(wanted)
    if not short:
        return []
    by_normal: dict[str, str] = {}
    for name in names:
        by_normal.setdefault(normal(name), name)
    asked = set(re.split(r"[-.\s]+", normal(wanted)))
    ranked = [
        (*likeness, len(name), name) for name in by_normal if (likeness := _likeness(short, asked, name))
    ]
    return [by_normal[one[-1]] for one in sorted(ranked)[:limit]]


def _likeness(short: str, asked: set[str], name: str) -> tuple[int, float] | None:
    """Return how ``name`` is like what was asked for, and how far from it; None: it is not."""
    from rapidfuzz.distance import OSA, Indel

    other = plain(name)
    if short == other:
        return _SAME, 0
    if other in FIELD_TERMS.get(short, ()):
        return _TERM, 0
    if len(short) >= _SHORTEST and other.startswith(short):
        return _BEGUN, 0
    edits = max(1, len(short) // _LETTERS_PER_EDIT) if len(short) >= _SHORTEST else 0
    distance = OSA.distance(short, other, score_cutoff=edits)
    if distance <= edits:
        return _MISTYPED, distance
    words = name.split("-")
    if _says(asked, words):
        return _WORDS, len(words) - len(asked)
    share = float(Indel.normalized_similarity(short, other, score_cutoff=_ALIKE))
    return (_LIKE, 1 - share) if share >= _ALIKE else None


def _says(asked: set[str], words: list[str]) -> bool:
    """Tell whether a name has every word asked for, each whole or begun, and few others."""
    if len(words) - len(asked) > _MOST_WORDS_AWAY:
        return False
    return all(one in words or (len(one) >= _SHORTEST and _begins(one, words)) for one in asked)


def _begins(start: str, words: list[str]) -> bool:
    return any(word.startswith(start) for word in words)
