"""Ordering candidates: text relevance, how well the query spells a name, how much of it a fact says."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from indexer.search.confidence import Asked
from indexer.search.documents import Document, message_words
from indexer.search.words import SMALL_WORDS, alternatives, words

_VALUE_MATCH = 0.6
"""What a query is worth that is one of a flag's choices: less than its name."""

_ALL_SAID, _TOGETHER = 0.5, 0.5
"""What it is worth, whatever the kind of a fact, that it says all of a query, and its words in a row."""

_TELLING_MESSAGE = 2
"""Messages of fewer words say too little to be recognised by."""


class Hit(msgspec.Struct):
    """A document found, with its score (higher is better, comparable within one query)."""

    document: Document
    score: float

    def record(self) -> dict[str, object]:
        """Return the hit as JSON values."""
        found = self.document
        return {
            "id": found.id,
            "kind": found.kind,
            "name": found.name,
            "title": found.title,
            "version": found.version,
            "url": found.url,
            "cited": {"path": found.path, "line": found.line},
            "score": round(self.score, 3),
        }


def rank(terms: list[str], asked: Asked, found: list[tuple[Document, float]]) -> list[Hit]:
    """Return hits for (document, text relevance) pairs, best first."""
    top = max((relevance for _, relevance in found), default=0) or 1.0
    hits = [Hit(document, _score(terms, asked, document, relevance / top)) for document, relevance in found]
    return sorted(hits, key=lambda hit: (-hit.score, len(hit.document.name), hit.document.id))


def _score(terms: list[str], asked: Asked, document: Document, relevance: float) -> float:
    spelled = max(
        name_match(terms, document.names),
        message_match(terms, document),
        _VALUE_MATCH if "".join(terms) in {"".join(words(value)) for value in document.values} else 0.0,
    )
    said = asked.said_by(document)
    answered = _ALL_SAID * said**2 + _TOGETHER * asked.together_in(document)
    return document.weight * (relevance * said + 2 * spelled) + answered


def message_match(terms: list[str], document: Document) -> float:
    """Return 0..1: how much of a rule's message a pasted log line or error says."""
    parts = message_words(document) - SMALL_WORDS
    if len(parts) < _TELLING_MESSAGE:
        return 0.0
    said = len(parts & set(terms))
    return (said / len(parts)) ** 2 * min(1.0, said / (0.4 * len(terms)))


def name_match(terms: list[str], names: list[str]) -> float:
    """Return 0..1: how much of the query is in a name, and how much of that name the query says."""
    return max((_one_name(terms, name) for name in names), default=0.0)


def _one_name(terms: list[str], name: str) -> float:
    parts = words(name)
    if not parts:
        return 0.0
    joined = "".join(parts)
    if "".join(terms) == joined:
        return 1.0
    together = _glued_in(terms, parts)
    said = sum(1.0 if term in together else _best(term, parts, joined) for term in terms) / len(terms)
    heard = sum(1 for part in parts if any(part.startswith(term) for term in _with_synonyms(terms))) / len(
        parts
    )
    return 0.9 * said * said * (0.6 + 0.4 * heard)


def _glued_in(terms: list[str], parts: list[str]) -> set[str]:
    """Return the words of a query that only together are a word of the name (``top k`` in ``topk``)."""
    pairs = [pair for pair in pairwise(terms) if "".join(pair) in parts]
    return {term for pair in pairs for term in pair}


def _best(term: str, parts: list[str], joined: str) -> float:
    if term in parts:
        return 1.0
    if any(part.startswith(term) for part in parts):
        return 0.5 + 0.4 * max(len(term) / len(part) for part in parts if part.startswith(term))
    if any(synonym in parts for synonym in alternatives(term)):
        return 0.7
    return 0.6 if len(term) > 3 and term in joined else 0.0


def _with_synonyms(terms: list[str]) -> list[str]:
    return terms + [synonym for term in terms for synonym in alternatives(term)]
