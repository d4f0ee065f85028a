"""Identifiers as people type them: cut into words, glued, in any case and with any dashes.

``--speculative-num-steps``, ``speculative_num_steps``, ``SpeculativeNumSteps`` and ``num steps``
share words; ``numsteps`` and ``top k`` meet through glued neighbours.
"""

from __future__ import annotations

import re
from functools import lru_cache

from indexer.knowledge.nearest import FIELD_TERMS

_RUN = re.compile(r"[A-Za-z0-9]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LETTERS_THEN_DIGITS = re.compile(r"([a-z]+)([0-9]+)")
_MAX_GLUED = 4

_QUESTION = """
a across an and any are be between can do does for from get have how i if in is it many me much my need
not of on or per should so that the their there this to turn use using what when where which why will
with without you
"""
SMALL_WORDS = frozenset(_QUESTION.split())
"""Words of questions that say nothing about what is asked."""

SYNONYMS = FIELD_TERMS
"""A query with a word of the field also finds what it stands for."""

_SHORTEST_PLURAL = 4
_NO_PLURAL = ("ss", "us", "is")


def alternatives(term: str) -> tuple[str, ...]:
    """Return what else a word of a query may be called: words of the field, the other grammatical number."""
    return (*SYNONYMS.get(term, ()), *_other_number(term))


def _other_number(term: str) -> tuple[str, ...]:
    if not term.isalpha() or len(term) < _SHORTEST_PLURAL or term.endswith(_NO_PLURAL):
        return ()
    return (term[:-1] if term.endswith("s") else f"{term}s",)


def runs(text: str) -> list[str]:
    """Return the alphanumeric runs of ``text`` in lower case: ``Qwen3_5Moe`` → qwen3, 5moe."""
    return [run.lower() for run in _RUN.findall(text)]


def words(text: str) -> list[str]:
    """Return the words of ``text`` in order, cut at dashes, underscores and CamelCase humps.

    A word with a number stays one (``qwen3``, ``eagle3``).
    """
    return [word for run in _RUN.findall(text) for word in _cut(run)]


@lru_cache(maxsize=100_000)
def _cut(run: str) -> tuple[str, ...]:
    found: list[str] = []
    for part in _CAMEL.findall(run):
        if part.isdigit() and found:
            found[-1] += part
        else:
            found.append(part.lower())
    return tuple(found)


def glued(parts: list[str]) -> list[str]:
    """Return neighbours written together, two to four at a time, and all of them."""
    joined = [
        "".join(parts[start : start + length])
        for length in range(2, _MAX_GLUED + 1)
        for start in range(len(parts) - length + 1)
    ]
    whole = "".join(parts)
    return joined + ([whole] if len(parts) > _MAX_GLUED else [])


def identifier_terms(name: str) -> list[str]:
    """Return all terms an identifier is indexed under, each once, most telling first."""
    parts = words(name)
    flat = runs(name)
    stems = [match[1] for part in parts if (match := _LETTERS_THEN_DIGITS.fullmatch(part))]
    return list(dict.fromkeys([*parts, *flat, *glued(parts), *glued(flat), *stems]))


def query_terms(query: str) -> list[str]:
    """Return the words of a query in order, each once; small words only where there are no others.

    Neighbours that together are a word of the field are one (``prompt lookup``).
    """
    found = list(dict.fromkeys(words(query)))
    return _field_terms([word for word in found if word not in SMALL_WORDS] or found)


def _field_terms(terms: list[str]) -> list[str]:
    joined: list[str] = []
    for term in terms:
        if joined and joined[-1] + term in SYNONYMS:
            joined[-1] += term
        else:
            joined.append(term)
    return joined
