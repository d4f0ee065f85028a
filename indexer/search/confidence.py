"""Whether the hits of a query answer it, or only have some of its words.

A word counts by how rare it is among the documents, and one that none of them has like the rarest: what is
asked about outweighs what surrounds it. An identifier is known only if all of its words name one fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log

from indexer.search.documents import Document, is_topic
from indexer.search.words import SYNONYMS, identifier_terms, words

SURE = 0.5
"""Share of a query that one document must say to be an answer."""
SURE_OF_TOPIC = 0.3
"""The same for a query with a word of this index's own subject: what else a question tells is mostly its
circumstances, so of its unknown words only one counts."""
_PROSE = 0.8
"""What a word is worth that is said about a fact but does not name it."""
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


class Asked:
    """A query's words with their weights, and the identifiers among them."""

    def __init__(
        self, text: str, terms: Sequence[str], mended: Mapping[str, str], frequency: Mapping[str, int]
    ) -> None:
        self._identifiers = _IDENTIFIER.findall(text)
        self._single = bool(self._identifiers) and len(text.split()) == 1
        self._mended = mended
        telling = [term for term in terms if not term.isdigit()]  # numbers are what run time fills in
        self._terms = [term for term in telling if term not in _OF_KINDS] or telling or list(terms)
        self._pairs = {term: "".join(pair) for pair in pairwise(self._terms) for term in pair}
        most = max(frequency.values(), default=1)
        self._weights = {one: log((most + 1) / (frequency.get(one, 0) + 0.5)) for one in self._terms}
        self.unknown = [one for one in self._terms if one in mended or one not in frequency]
        self._topical = any(is_topic(one) for one in (*self._terms, *mended.values()))
        self._whole = sum(self._weights.values())
        if self._topical and self.unknown:
            unknown = [self._weights[one] for one in self.unknown]
            self._whole += max(unknown) - sum(unknown)

    def answered_by(self, document: Document) -> bool:
        """Tell whether a document says enough of the query to be an answer to it."""
        named = {term for name in (*document.names, *document.values) for term in identifier_terms(name)}
        if any(self._names(one, document, named) for one in self._identifiers):
            return True
        if self._single:
            return not self._identifiers[0].startswith("-") and _says(document, self._identifiers[0])
        said = self._said(named, set(words(document.text)))
        return said >= (SURE_OF_TOPIC if self._topical else SURE) * self._whole

    def _said(self, named: set[str], prose: set[str]) -> float:
        return sum(weight * self._heard(term, named, prose) for term, weight in self._weights.items())

    def _names(self, identifier: str, document: Document, named: set[str]) -> bool:
        parts = words(identifier)
        if len(parts) == 1 and not identifier.startswith("-"):
            return identifier in document.names
        return all(self._heard(part, named, set()) for part in parts)

    def _heard(self, term: str, named: set[str], prose: set[str]) -> float:
        """Return 0..1: how well one word of the query is said."""
        meant = self._mended.get(term)
        if meant is not None:
            return _MENDED if meant in named else 0.0
        known = (term, self._pairs.get(term), *SYNONYMS.get(term, ()))
        if any(one in named for one in known):
            return 1.0
        begun = [len(term) / len(word) for word in named if word.startswith(term)]
        if begun:
            return 0.5 + 0.5 * max(begun)
        if term in prose:
            return _PROSE
        return _BEGUN if any(word.startswith(term) for word in prose) else 0.0


def _says(document: Document, identifier: str) -> bool:
    """Tell whether the words of an identifier stand in a document's text in a row."""
    return f" {' '.join(words(identifier))} " in f" {' '.join(words(document.text))} "
