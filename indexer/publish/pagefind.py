"""The site's search: one Pagefind record per fact, and the words its script mends typing with.

Records are handed over as a folder of small files to the program that Pagefind's Python package brings. The
package's service is not used: up to 1.5.2 it says that an index is written before it is, and closing it then
leaves files cut short (Pagefind's issue 1271).
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path

from pagefind.service import get_executable

from indexer.errors import CannotError
from indexer.publish.kept_search import keep_index, kept_index, unpacked
from indexer.search.documents import Document
from indexer.search.words import SMALL_WORDS, SYNONYMS, identifier_terms, words

RECORDS = ".search-records"
"""The folder, in a version's, of the records that Pagefind read; whoever ends the build removes it."""

_OPTIONS = ("--force-language", "en", "--quiet")
_SHORTEST_WORD = 3
_NAME_WEIGHT, _SPELLING_WEIGHT = 8, 4
_ABOUT = 200


def write_search(documents: Iterable[Document], folder: Path) -> None:
    """Write ``pagefind/`` and ``search-words.json`` into a version's folder."""
    vocabulary: Counter[str] = Counter()
    records: list[str] = []
    for document in documents:
        spellings, said = _spellings(document), words(document.searched)
        records.append(_record(document, spellings, said))
        vocabulary.update({word for word in (*spellings, *said) if len(word) >= _SHORTEST_WORD})
    answer = {"words": dict(sorted(vocabulary.items())), "synonyms": SYNONYMS, "small": sorted(SMALL_WORDS)}
    (folder / "search-words.json").write_text(json.dumps(answer, separators=(",", ":")))
    kept = kept_index(records, _OPTIONS)
    if not unpacked(kept, folder / "pagefind"):
        _write_index(records, folder)
        keep_index(kept, folder / "pagefind")


def _write_index(records: list[str], folder: Path) -> None:
    """Have Pagefind read the records; their files stay, because making files after removing many is slow."""
    place = folder / RECORDS
    place.mkdir()
    for number, record in enumerate(records):
        (place / f"{number}.html").write_text(record, encoding="utf-8")
    program = get_executable()
    if program is None:
        raise CannotError("Pagefind's program is not installed", "pip install 'pagefind[bin]'")
    output = str((folder / "pagefind").absolute())
    command = [str(program), "--site", ".", "--output-path", output, *_OPTIONS]
    # In its own folder: Pagefind takes settings from files where it is started.
    done = subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise CannotError(f"Pagefind could not index the site ({said.splitlines()[-1]})")


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
        f"<p>{escape(document.searched)} {escape(' '.join(said))}</p></body></html>"
    )


def _spellings(document: Document) -> list[str]:
    return [term for name in document.names for term in identifier_terms(name)]
