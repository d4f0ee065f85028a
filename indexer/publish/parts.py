"""The parts that the building of a version falls into: each is made in one process, any beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from indexer._resources import data_path
from indexer.collector import collector_postponed
from indexer.errors import CannotError
from indexer.publish.pages import KINDS

if TYPE_CHECKING:
    from indexer.knowledge.history import History
    from indexer.knowledge.schema import Snapshot
    from indexer.publish.render import Renderer
    from indexer.validate.matrix import Matrix

SEARCH, CITATIONS, TERMINAL = "search", "citations", "terminal"
PARTS = (SEARCH, TERMINAL, CITATIONS, *KINDS)
"""What takes longest stands first, so that the processes end together."""

_SHOWN_DEAD = 20


class Target(msgspec.Struct, frozen=True):
    """A version of a site in the making; ``stems`` are the pages that each version will have."""

    version: str
    versions: tuple[str, ...]
    default: str
    stems: tuple[tuple[str, frozenset[str]], ...]
    folder: str


class Figures(msgspec.Struct, frozen=True):
    """Citations that were opened again, what was not recognised or not known, call sites by kind."""

    citations: int
    unrecognised: int
    unknown: int
    call_sites: dict[str, int] = {}


def build_part(target: Target, part: str) -> int:
    """Make one part of a version; return how many pages it has.

    Raises:
        CannotError: a citation is dead, or the release can't be had.
    """
    if part == SEARCH:
        _write_search(target)
    elif part == CITATIONS:
        _check_citations(target)
    elif part == TERMINAL:
        _keep_index(target)
    else:
        return _write_pages(target, part)
    return 0


def _write_pages(target: Target, kind: str) -> int:
    from indexer.publish.agents import llms_full_txt, llms_txt

    renderer = _renderer(target)
    root = Path(target.folder)
    folders = {root / target.version: "../"}
    if target.version == target.default:
        folders[root] = ""
    count = 0
    for page in KINDS[kind](renderer.site):
        renderer.write(page, folders)
        count += 1
    if kind == "home":
        for name, text in (("llms.txt", llms_txt), ("llms-full.txt", llms_full_txt)):
            written = text(renderer.site)
            for folder in folders:
                (folder / name).write_text(written, encoding="utf-8")
    return count


def _write_search(target: Target) -> None:
    from indexer.publish.pagefind import write_search
    from indexer.search.documents import documents_of

    folder = Path(target.folder) / target.version
    folder.mkdir(exist_ok=True)
    write_search(documents_of(_renderer(target).site.snapshot), folder)


def _keep_index(target: Target) -> None:
    """Make the index that ``indexer search`` reads of the default version, where the cache has none."""
    from indexer.search.open import build_index, index_folder

    if target.version == target.default and not index_folder(target.version).is_dir():
        build_index(_renderer(target).site.snapshot)


def _check_citations(target: Target) -> None:
    from indexer.publish.citations import dead_citations

    site = _renderer(target).site
    dead = dead_citations(site.snapshot, site.source)
    if dead:
        raise CannotError(_told(target.version, dead))


def _told(version: str, dead: Sequence[object]) -> str:
    listed = "\n".join(f"  {citation}" for citation in dead[:_SHOWN_DEAD])
    more = f"\n  … and {len(dead) - _SHOWN_DEAD} more" if len(dead) > _SHOWN_DEAD else ""
    return f"SGLang {version}: {len(dead)} dead citation(s); nothing was published\n{listed}{more}"


def figures_of(target: Target) -> Figures:
    """Return what is told of a version that was built."""
    from indexer.knowledge.shares import CALL_SITES
    from indexer.publish.citations import count_citations

    snapshot = _renderer(target).site.snapshot
    coverage = snapshot.coverage
    return Figures(
        count_citations(snapshot),
        len(coverage.unrecognised),
        len(coverage.unknown),
        coverage.counts.get(CALL_SITES, {}),
    )


@lru_cache(maxsize=1)
def _renderer(target: Target) -> Renderer:
    """Return what writes the pages of a version; a process makes its parts one after the other."""
    from indexer.publish.excerpts import SourceText
    from indexer.publish.render import Renderer
    from indexer.publish.site import VersionSite
    from indexer.snapshots import get_snapshot
    from indexer.source import open_source

    with collector_postponed():  # which need not walk over all this while pages are written
        snapshot = get_snapshot(target.version)
        return Renderer(
            VersionSite(
                snapshot,
                SourceText(open_source(target.version)),
                dict(target.stems),
                list(target.versions),
                target.default,
                _history(),
                _evidence(snapshot, target.versions),
            )
        )


def _history() -> History | None:
    """Return the shipped history, or None where this installation has none."""
    from indexer.knowledge.history import SHIPPED, load_history

    return load_history() if SHIPPED.is_file() else None


def _evidence(snapshot: Snapshot, versions: Sequence[str]) -> Matrix | None:
    """Return the matrix of the shipped launch records, or None where there are none.

    Records of the site's other versions say what changed since they were taken.
    """
    from indexer.snapshots import get_snapshot
    from indexer.validate.matrix import build_matrix, staleness
    from indexer.validate.records import load

    try:
        records = load(data_path("evidence"))
    except FileNotFoundError:
        return None
    shown = snapshot.source.version
    others = sorted({record.version for record in records} & set(versions) - {shown})
    stale = {version: staleness(get_snapshot(version), snapshot) for version in others}
    return build_matrix(records, snapshot, stale)
