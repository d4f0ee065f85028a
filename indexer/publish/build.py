"""Building the site: snapshots, checked citations, pages and search of each version."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from indexer._resources import data_path
from indexer.errors import CannotError
from indexer.knowledge.store import write_atomically
from indexer.publish.output import replaced_whole

if TYPE_CHECKING:
    from indexer.knowledge.history import History
    from indexer.knowledge.schema import Snapshot
    from indexer.validate.matrix import Matrix

_SHOWN_DEAD = 20


class Built(msgspec.Struct):
    """What was built for one version."""

    version: str
    pages: int
    citations: int
    unrecognised: int
    unknown: int
    call_sites: dict[str, int] = {}


class _Work(msgspec.Struct):
    """The building of one version, as given to a process."""

    version: str
    versions: list[str]
    default: str
    stems: dict[str, frozenset[str]]
    folder: str
    with_search: bool = True


def build_site(versions: list[str], default: str, target: Path, processes: int = 0) -> Iterator[Built]:
    """Build the site of ``versions`` into ``target``, yielding each version as it is done.

    ``/VERSION/`` holds each version, ``/`` the pages of ``default`` again. The old site stays in
    place until the new one is whole.

    Raises:
        UsageError: ``target`` is not ours to replace.
        CannotError: a citation is dead, a release can't be had, or the folder can't be written.
    """
    workers = min(processes or os.cpu_count() or 1, len(versions))
    with replaced_whole(target) as folder, _processes(workers) as pool:
        stems = dict(zip(versions, pool.map(_extract, versions), strict=True))
        work = [_Work(version, versions, default, stems, str(folder)) for version in versions]
        for done in as_completed([pool.submit(_build_version, part) for part in work]):
            yield done.result()
        _finish(folder, versions, default)


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes that end at once when the block fails or is interrupted.

    Ctrl-C reaches this process only: a worker's own traceback would bury the one line that tells it.
    """
    ignore_interrupts = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, initializer=ignore_interrupts) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _extract(version: str) -> frozenset[str]:
    """Make sure that a version's snapshot is in the cache; return the pages it will have."""
    from indexer.publish.site import page_stems
    from indexer.snapshots import get_snapshot

    return page_stems(get_snapshot(version))


def _build_version(work: _Work) -> Built:
    from indexer.knowledge.shares import CALL_SITES
    from indexer.publish.agents import llms_full_txt, llms_txt
    from indexer.publish.citations import dead_citations
    from indexer.publish.excerpts import SourceText
    from indexer.publish.pagefind import write_search
    from indexer.publish.pages import all_pages
    from indexer.publish.render import Renderer
    from indexer.publish.site import VersionSite
    from indexer.search.documents import documents_of
    from indexer.search.open import build_index, index_folder
    from indexer.snapshots import get_snapshot
    from indexer.source import open_source

    snapshot = get_snapshot(work.version)
    source = SourceText(open_source(work.version))
    dead = dead_citations(snapshot, source)
    if dead:
        raise CannotError(_told(work.version, dead))
    site = VersionSite(
        snapshot,
        source,
        work.stems,
        work.versions,
        work.default,
        _history(),
        _evidence(snapshot, work.versions),
    )
    folder = Path(work.folder)
    own = folder / work.version
    folders = {own: "../"}
    if work.version == work.default:
        folders[folder] = ""
    renderer = Renderer(site)
    count = 0
    for page in all_pages(site):
        renderer.write(page, folders)
        count += 1
    for place in folders:
        (place / "llms.txt").write_text(llms_txt(site), encoding="utf-8")
        (place / "llms-full.txt").write_text(llms_full_txt(site), encoding="utf-8")
    write_search(documents_of(snapshot), own)
    if work.version == work.default and not index_folder(work.version).is_dir():
        build_index(snapshot)
    coverage = snapshot.coverage
    unrecognised, unknown = len(coverage.unrecognised), len(coverage.unknown)
    sites = coverage.counts.get(CALL_SITES, {})
    return Built(work.version, count, site.citations, unrecognised, unknown, sites)


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


def _told(version: str, dead: Sequence[object]) -> str:
    listed = "\n".join(f"  {citation}" for citation in dead[:_SHOWN_DEAD])
    more = f"\n  … and {len(dead) - _SHOWN_DEAD} more" if len(dead) > _SHOWN_DEAD else ""
    return f"SGLang {version}: {len(dead)} dead citation(s); nothing was published\n{listed}{more}"


def _finish(folder: Path, versions: list[str], default: str) -> None:
    """Add what all versions share: our style and scripts, and the default version's search at ``/``."""
    shutil.copytree(data_path("site") / "static", folder / "static")
    for name in ("pagefind", "search-words.json"):
        made = folder / default / name
        if made.is_dir():
            shutil.copytree(made, folder / name, copy_function=_link)
        else:
            _link(str(made), str(folder / name))
    write_atomically(
        folder / "versions.json", msgspec.json.encode({"default": default, "versions": versions}) + b"\n"
    )


def _link(source: str, target: str) -> str:
    """Link a file to a second name, or copy it where the file system can't."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
