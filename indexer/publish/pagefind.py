"""The site's search: one Pagefind record per fact, and the words its script mends typing with.

Records are handed over as a folder of small files, in one message: Pagefind's Python service waits a
tenth of a second for each answer, so that a message per record takes minutes.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path

from pagefind.index import IndexConfig, PagefindIndex

from indexer.publish.kept_search import keep_index, kept_index, unpacked
from indexer.search.documents import Document
from indexer.search.words import SMALL_WORDS, SYNONYMS, identifier_terms, words

RECORDS = ".search-records"
"""The folder, in a version's, of the records that Pagefind read; whoever ends the build removes it."""

_SHORTEST_WORD = 3
_NAME_WEIGHT, _SPELLING_WEIGHT = 8, 4
_ABOUT = 200


def write_search(documents: Iterable[Document], folder: Path) -> None:
    """Write ``pagefind/`` and ``search-words.json`` into a version's folder."""
    vocabulary: Counter[str] = Counter()
    records: list[str] = []
    for document in documents:
        spellings, said = _spellings(document), words(document.text)
        records.append(_record(document, spellings, said))
        vocabulary.update({word for word in (*spellings, *said) if len(word) >= _SHORTEST_WORD})
    answer = {"words": dict(sorted(vocabulary.items())), "synonyms": SYNONYMS, "small": sorted(SMALL_WORDS)}
    (folder / "search-words.json").write_text(json.dumps(answer, separators=(",", ":")))
    kept = kept_index(records)
    if not unpacked(kept, folder / "pagefind"):
        asyncio.run(_write_index(records, folder))
        keep_index(kept, folder / "pagefind")


async def _write_index(records: list[str], folder: Path) -> None:
    """Have Pagefind read the records; their files stay, because making files after removing many is slow."""
    place = folder / RECORDS
    place.mkdir()
    for number, record in enumerate(records):
        (place / f"{number}.html").write_text(record, encoding="utf-8")
    config = IndexConfig(output_path=str(folder / "pagefind"), force_language="en")
    async with PagefindIndex(config=config) as index:
        await index.add_directory(str(place))


def _record(document: Document, spellings: list[str], said: list[str]) -> str:
    """Return a fact as the HTML that Pagefind reads: what a result shows, and weighted words."""
    meta = {
        "title": document.title,
        "href": document.url.split("/", 2)[2],
        "kind": document.kind,
        "names": " ".join(document.names),
        "values": " ".join(document.values),
        "cited": f"{document.path}:{document.line}",
        "about": document.about[:_ABOUT],
        "weight": f"{document.weight:.3f}",
    }
    head = "".join(
        f'<meta data-pagefind-meta="{key}[content]" content="{escape(value)}">' for key, value in meta.items()
    )
    head += f'<meta data-pagefind-filter="kind[content]" content="{document.kind}">'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body data-pagefind-body>'
        f'<p data-pagefind-weight="{_NAME_WEIGHT}">{escape(" ".join(document.names))}</p>'
        f'<p data-pagefind-weight="{_SPELLING_WEIGHT}">{escape(" ".join(spellings))}</p>'
        f"<p>{escape(document.text)} {escape(' '.join(said))}</p></body></html>"
    )


def _spellings(document: Document) -> list[str]:
    return [term for name in document.names for term in identifier_terms(name)]
