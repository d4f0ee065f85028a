"""What a query may mean that the searched release has not, but other releases have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexer.knowledge.elsewhere import Elsewhere
from indexer.knowledge.nearest import plain
from indexer.search.ranking import Hit
from indexer.search.words import alternatives, query_terms, words

_MOST = 3
_FEWEST_WORDS = 2
_LEAST_SHARE = 0.5
"""Part of a name's words that a query must say to mean it."""


def meant_elsewhere(text: str, known: Sequence[Elsewhere], hits: Iterable[Hit]) -> list[Elsewhere]:
    """Return the names of other releases that a query spells out or, where no hit has all of its words in its
    name, says most of; the likeliest first."""
    spelled = {plain(word.partition("=")[0]) for word in text.split()} | {plain(text)}
    exact = [one for one in known if plain(one.name) in spelled]
    if exact:
        return exact[:_MOST]
    terms = [term for term in query_terms(text) if not term.isdigit()]
    here = any(_says_all(terms, name) for hit in hits for name in hit.document.names)
    if here or len(terms) < _FEWEST_WORDS:
        return []
    likely = [(len(words(one.name)), one.name, one) for one in known if _means(terms, one.name)]
    return [one for *_, one in sorted(likely)[:_MOST]]


def _means(terms: list[str], name: str) -> bool:
    return _says_all(terms, name) and len(terms) >= _LEAST_SHARE * len(words(name))


def _says_all(terms: list[str], name: str) -> bool:
    parts = words(name)
    return all(any(one in parts for one in (term, *alternatives(term))) for term in terms)
