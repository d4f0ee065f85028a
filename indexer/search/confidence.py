"""Whether the hits of a query answer it, or only have some of its words.

A word counts by how rare it is among the documents, and one that none of them has like the rarest: what is
asked about outweighs what surrounds it. An identifier is known only if all of its words name one fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from math import log
from typing import NamedTuple

from indexer.search.documents import Document, is_topic, message_words
from indexer.search.words import SMALL_WORDS, alternatives, identifier_terms, words

SURE = 0.5
"""Share of a query that one document must say to be an answer."""
SURE_OF_TOPIC = 0.3
"""The same for a query with a word of this index's own subject: what else a question tells is mostly its
circumstances, so of its unknown words only one counts."""
_PROSE = 0.8
"""What a word is worth that is said about a fact but does not name it."""
_CODE = 0.5
"""What a word is worth that only a condition's code has: it may be any attribute's name."""
_BEGUN = 0.6
"""What a word is worth that is only the beginning of one said about a fact."""
_MENDED = 0.8
"""What a mistyped word is worth where it names something; elsewhere it is worth nothing."""
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:--\w[\w-]*|[^\W_]+(?:_[^\W_]+)+|[^\W_]+(?:-[^\W_]+){2,}|[A-Z][^\W_]*[A-Z0-9][^\W_]*)(?![\w-])"
)
"""An option, words joined by underscores, three or more by dashes, or a word with several capitals."""
_KINDS = """
sglang command flag flags option options argument arguments parameter parameters
model models algorithm algorithms env environment variable variables rule rules
"""
_OF_KINDS = frozenset(_KINDS.split())
"""Words for what all facts are, not for what one of them is about."""
_RELATIONS = frozenset(
    ("allow", "allowed", "allows", "bigger", "greater", "larger", "less", "more", "smaller", "than")
)
"""Words for how what is asked about relates to a value or another thing; facts say it in signs (``> 1``)."""


class _Words(NamedTuple):
    """What a document says: the words of its names, its choices (each as a whole), the words about it, and
    those of its conditions."""

    named: frozenset[str]
    choices: frozenset[str]
    prose: frozenset[str]
    code: frozenset[str]

    @classmethod
    def of(cls, document: Document) -> _Words:
        named = frozenset(term for name in document.names for term in identifier_terms(name))
        choices = frozenset("".join(words(value)) for value in document.values)
        return cls(named, choices, frozenset(words(document.text)), frozenset(words(document.code)))


class Asked:
    """A query's words with their weights, and the identifiers among them."""

    def __init__(
        self, text: str, terms: Sequence[str], mended: Mapping[str, str], frequency: Mapping[str, int]
    ) -> None:
        self._identifiers = _IDENTIFIER.findall(text)
        self._single = bool(self._identifiers) and len(text.split()) == 1
        self._mended = mended
        telling = [term for term in terms if not term.isdigit()]  # numbers are what run time fills in
        about = [term for term in telling if term not in _OF_KINDS and term not in _RELATIONS]
        self._terms = about or telling or list(terms)
        self._neighbours = list(pairwise(self._terms))
        self._pairs = {term: "".join(pair) for pair in self._neighbours for term in pair}
        most = max(frequency.values(), default=1)
        called = {one: (one, *alternatives(one)) for one in self._terms}
        often = {one: max(frequency.get(name, 0) for name in names) for one, names in called.items()}
        self._weights = {one: log((most + 1) / (count + 0.5)) for one, count in often.items()}
        self.unknown = [one for one in self._terms if one in mended or not often[one]]
        self._topical = any(is_topic(one) for one in (*self._terms, *mended.values()))
        self._joined = "".join(self._terms)
        self._whole = sum(self._weights.values())
        if self._topical and self.unknown:
            unknown = [self._weights[one] for one in self.unknown]
            self._whole += max(unknown) - sum(unknown)

    def answered_by(self, document: Document) -> bool:
        """Tell whether a document says enough of the query to be an answer to it."""
        heard = _Words.of(document)
        if any(_names(one, document, heard) for one in self._identifiers):
            return True
        if self._single:
            return not self._identifiers[0].startswith("-") and _says(document, self._identifiers[0])
        return self._said(heard) >= (SURE_OF_TOPIC if self._topical else SURE) * self._whole

    def said_by(self, document: Document) -> float:
        """Return 0..1: how much of the query a document says."""
        heard = _Words.of(document)
        heard = heard._replace(named=heard.named | message_words(document))
        return self._said(heard) / self._whole if self._whole else 0.0

    def together_in(self, document: Document) -> float:
        """Return 0..1: how much of the query's neighbouring words are neighbours in a document too."""
        texts = [words(name) for name in (*document.names, document.text)]
        found = {pair for text in texts for pair in pairwise(one for one in text if one not in SMALL_WORDS)}
        weights = {pair: self._weights[pair[0]] + self._weights[pair[1]] for pair in self._neighbours}
        together = sum(weight for pair, weight in weights.items() if found & _spellings(pair))
        return together / sum(weights.values()) if weights else 0.0

    def _said(self, heard: _Words) -> float:
        return sum(weight * self._heard(term, heard) for term, weight in self._weights.items())

    def _heard(self, term: str, heard: _Words) -> float:
        """Return 0..1: how well one word of the query is said."""
        meant = self._mended.get(term)
        if meant is not None:
            return _MENDED if meant in heard.named else 0.0
        if self._pairs.get(term) in heard.named | heard.choices or self._joined in heard.choices:
            return 1.0
        return _loudness(term, heard)


def _loudness(term: str, heard: _Words) -> float:
    known = (term, *alternatives(term))
    if any(one in heard.named or one in heard.choices for one in known):
        return 1.0
    begun = max((len(term) / len(word) for word in heard.named if word.startswith(term)), default=0.0)
    if begun:
        return 0.5 + 0.5 * begun
    if any(one in heard.prose for one in known):
        return _PROSE
    if any(word.startswith(term) for word in heard.prose):
        return _BEGUN
    return _CODE if any(one in heard.code for one in known) else 0.0


def _names(identifier: str, document: Document, heard: _Words) -> bool:
    parts = words(identifier)
    if "".join(parts) in heard.choices:
        return True
    if len(parts) == 1 and not identifier.startswith("-"):
        return identifier in document.names
    return all(_loudness(part, heard._replace(prose=frozenset(), code=frozenset())) for part in parts)


def _spellings(pair: tuple[str, str]) -> set[tuple[str, str]]:
    first, second = ((one, *alternatives(one)) for one in pair)
    return set(product(first, second))


def _says(document: Document, identifier: str) -> bool:
    """Tell whether the words of an identifier stand in a document's text in a row."""
    return f" {' '.join(words(identifier))} " in f" {' '.join(words(f'{document.text} {document.code}'))} "
