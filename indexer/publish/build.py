"""Building the site: snapshots, checked citations, pages and search of each version."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

import msgspec

from indexer._resources import data_path
from indexer.knowledge.store import write_atomically
from indexer.publish.output import link_or_copy, replaced_whole
from indexer.publish.pagefind import RECORDS
from indexer.publish.parts import PARTS, Figures, Target, build_part, figures_of
from indexer.workers import cores, end_with_parent

_BUSY = 4
"""Processes that the parts of a version keep busy: the largest part is a quarter of the work."""


class Built(msgspec.Struct):
    """What was built for one version."""

    version: str
    pages: int
    figures: Figures


def build_site(versions: list[str], default: str, target: Path, processes: int = 0) -> Iterator[Built]:
    """Build the site of ``versions`` into ``target``, yielding each version as it is done.

    ``/VERSION/`` holds each version, ``/`` the pages of ``default`` again. The old site stays in
    place until the new one is whole.

    Raises:
        UsageError: ``target`` is not ours to replace.
        CannotError: a citation is dead, a release can't be had, or the folder can't be written.
    """
    workers = min(processes or cores(), _BUSY * len(versions))
    with replaced_whole(target) as folder, _processes(workers) as pool:
        stems = tuple(zip(versions, pool.map(_extract, versions), strict=True))
        targets = [Target(one, tuple(versions), default, stems, str(folder)) for one in versions]
        work = {pool.submit(build_part, one, part): one.version for one in targets for part in PARTS}
        figures = {one.version: pool.submit(figures_of, one) for one in targets}
        pages, left = Counter[str](), Counter(work.values())
        for done in as_completed(work):
            version = work[done]
            pages[version] += done.result()
            left[version] -= 1
            if not left[version]:
                yield Built(version, pages[version], figures[version].result())
        _finish(folder, versions, default)


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes that end at once when the block fails or is interrupted.

    Ctrl-C ends this process and the programs that workers run, not the workers themselves: a traceback of
    theirs would bury the one line that tells it.
    """
    with ProcessPoolExecutor(workers, initializer=_begin_worker) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _begin_worker() -> None:
    end_with_parent()
    # A handler, because what is ignored would stay ignored in a program that a worker runs.
    signal.signal(signal.SIGINT, _go_on)


def _go_on(number: int, frame: object) -> None:
    """Take no notice of a signal."""


def _extract(version: str) -> frozenset[str]:
    """Make sure that a version's snapshot is in the cache; return the pages it will have."""
    from indexer.publish.site import page_stems
    from indexer.snapshots import get_snapshot

    return page_stems(get_snapshot(version))


def _finish(folder: Path, versions: list[str], default: str) -> None:
    """Add what all versions share: our style and scripts, and the default version's search at ``/``."""
    shutil.copytree(data_path("site") / "static", folder / "static")
    for name in ("pagefind", "search-words.json"):
        made = folder / default / name
        if made.is_dir():
            shutil.copytree(made, folder / name, copy_function=link_or_copy)
        else:
            link_or_copy(made, folder / name)
    for version in versions:
        shutil.rmtree(folder / version / RECORDS, ignore_errors=True)
    write_atomically(
        folder / "versions.json", msgspec.json.encode({"default": default, "versions": versions}) + b"\n"
    )
