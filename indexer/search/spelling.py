"""Mending a mistyped word: the nearest word that is in the index.

The site's own script does the same with the same limits (``site/static/search.js``), because
Pagefind knows no typing errors.
"""

from __future__ import annotations

from collections.abc import Mapping

SHORTEST_MENDED = 4
"""Words of fewer letters are left alone: too many real words are near them."""


def allowed_edits(word: str) -> int:
    """Return how many letters of ``word`` may be wrong, missing, extra or swapped."""
    if len(word) < SHORTEST_MENDED:
        return 0
    return 1 if len(word) < 8 else 2


def mend(word: str, vocabulary: Mapping[str, int]) -> str | None:
    """Return the word of ``vocabulary`` (word → how often) nearest to ``word``, or None.

    Among equally near words the one with the same first letter, then the most frequent, then the
    first in the alphabet wins.
    """
    limit = allowed_edits(word)
    if not limit or word in vocabulary:
        return None
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    near = process.extract(word, vocabulary.keys(), scorer=OSA.distance, score_cutoff=limit, limit=50)
    if not near:
        return None
    return min(near, key=lambda hit: (hit[1], hit[0][0] != word[0], -vocabulary[hit[0]], hit[0]))[0]
