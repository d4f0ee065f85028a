"""The command line's search index: Whoosh behind an interface of ours.

Text is cut into terms by us (``words``), so that Whoosh stores and scores only.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import msgspec

from indexer.collector import collector_paused
from indexer.search.confidence import Asked
from indexer.search.documents import Document
from indexer.search.lean_imports import lean_imports
from indexer.search.ranking import Hit, rank
from indexer.search.spelling import mend
from indexer.search.words import SYNONYMS, alternatives, identifier_terms, query_terms, words

with lean_imports():
    from whoosh import fields, index, query, scoring
    from whoosh.analysis import SpaceSeparatedTokenizer

_VOCABULARY = "vocabulary.json"
_CANDIDATES = 80
LOOKED_AT = 10
"""So many of the best hits may hold the answer."""
_SHORTEST_PREFIX = 2
_FIELD_BOOST = {"name": 3.0, "text": 1.0}


class SearchIndex:
    """A folder on disk that answers queries over the documents of one snapshot."""

    def __init__(self, folder: Path) -> None:
        self._index = index.open_dir(str(folder))
        self._vocabulary: dict[str, int] = json.loads((folder / _VOCABULARY).read_text())
        self._mended: dict[str, str | None] = {}

    @classmethod
    def build(
        cls, documents: Iterable[Document], folder: Path, beside: Mapping[str, bytes] = MappingProxyType({})
    ) -> SearchIndex:
        """Write an index of ``documents`` to ``folder``, which appears only when it is whole; ``beside`` are
        files to keep with it."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            _write(documents, staging)
            for name, content in beside.items():
                (staging / name).write_bytes(content)
            shutil.rmtree(folder, ignore_errors=True)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        return cls(folder)

    def mended(self, text: str) -> dict[str, str]:
        """Return the words of a query that were mistyped, each with what it was taken for."""
        found = {word: self._mend(word) for word in query_terms(text)}
        return {word: meant for word, meant in found.items() if meant is not None}

    def _mend(self, word: str) -> str | None:
        if word not in self._mended:
            known = word in SYNONYMS or any(one in self._vocabulary for one in (word, *alternatives(word)))
            known = known or any(one.startswith(word) for one in self._vocabulary)
            self._mended[word] = None if known else mend(word, self._vocabulary)
        return self._mended[word]

    def search(self, text: str, kind: str | None = None, limit: int = 10) -> list[Hit]:
        """Return the best documents for ``text``, best first."""
        mended = self.mended(text)
        terms = [mended.get(word, word) for word in query_terms(text)]
        if not terms:
            return []
        wanted: query.Query = query.Or([self._any_spelling(term) for term in terms], scale=0.8)
        joined = "".join(terms)
        if len(terms) > 1:
            pairs = ["".join(pair) for pair in pairwise(terms)]
            glue = [query.Term("name", term, boost=2.0) for term in dict.fromkeys([*pairs, joined])]
            wanted = query.Or([wanted, *glue])
        if kind:
            wanted = query.And([wanted, query.ConstantScoreQuery(query.Term("kind", kind), 0.0)])
        weighting = scoring.BM25F(name_B=0.4, text_B=0.6)
        with collector_paused(), self._index.searcher(weighting=weighting) as searcher:
            hits = searcher.search(wanted, limit=_CANDIDATES)
            found = [
                (msgspec.json.decode(hit["document"], type=Document), float(hit.score or 0)) for hit in hits
            ]
        return rank(terms, self._asked(text), found)[:limit]

    def sure(self, text: str, hits: list[Hit]) -> bool:
        """Tell whether one of the best hits answers a query, or all only have some of its words."""
        asked = self._asked(text)
        return any(asked.answered_by(hit.document) for hit in hits[:LOOKED_AT])

    def unknown(self, text: str) -> list[str]:
        """Return the words of a query that no document has."""
        return self._asked(text).unknown

    def _asked(self, text: str) -> Asked:
        return Asked(text, query_terms(text), self.mended(text), self._vocabulary)

    def _any_spelling(self, term: str) -> query.Query:
        """Return the query for one word: itself, what it begins, and the words it stands for."""
        options: list[query.Query] = [
            query.Term("name", term, boost=_FIELD_BOOST["name"]),
            query.Term("text", term, boost=_FIELD_BOOST["text"]),
        ]
        if len(term) >= _SHORTEST_PREFIX:
            options.append(query.Prefix("name", term, boost=1.2))
            if term not in self._vocabulary:
                options.append(query.Prefix("text", term, boost=0.3))
        for synonym in alternatives(term):
            options.append(query.Term("name", synonym, boost=1.5))
            options.append(query.Term("text", synonym, boost=0.5))
        return query.DisjunctionMax(options)


def _write(documents: Iterable[Document], folder: Path) -> None:
    terms = fields.TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=False)
    schema = fields.Schema(kind=fields.ID, name=terms, text=terms, document=fields.STORED)
    writer = index.create_in(str(folder), schema).writer(limitmb=128)
    vocabulary: Counter[str] = Counter()
    for document in documents:
        names = [term for name in document.names for term in identifier_terms(name)]
        prose = words(document.searched)
        vocabulary.update(set(names) | set(prose))
        writer.add_document(
            kind=document.kind,
            name=" ".join(names),
            text=" ".join(prose),
            document=msgspec.json.encode(document),
        )
    writer.commit(merge=False)
    (folder / _VOCABULARY).write_text(json.dumps(dict(sorted(vocabulary.items()))))
