"""Building the history: every release fetched, read and folded; resumable at any point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import msgspec

from indexer.errors import CannotError, IndexerError, UsageError
from indexer.extractor_version import followed_version
from indexer.knowledge.facts import Facts, facts_of
from indexer.knowledge.history_file import HistoryFile, Release
from indexer.knowledge.history_fold import fold
from indexer.knowledge.store import write_atomically
from indexer.source.cache import cache_folder, forget_older
from indexer.workers import cores, end_with_parent

FIRST_RELEASE = "0.4.1"
"""The oldest release covered: the last one without speculation, so that what came is seen coming."""


class Entry(msgspec.Struct):
    """A release's facts as kept in the cache between builds."""

    release: Release
    facts: Facts


class Built(NamedTuple):
    """What came of a build: the history, the entries it was folded from, and the failures by version."""

    history: HistoryFile
    entries: list[Entry]
    failed: dict[str, IndexerError]


def releases_to_cover(first: str | None = None, last: str | None = None) -> list[str]:
    """Return the released versions from ``first`` (None: 0.4.1) to ``last`` (None: the newest).

    Raises:
        UsageError: there is none in the range.
        CannotError: the index can't be asked.
    """
    from packaging.version import Version

    from indexer.source.pip import released_versions
    from indexer.source.wheels import normal_version

    low = Version(normal_version(first or FIRST_RELEASE))
    high = Version(normal_version(last)) if last else None
    found = [
        v for v in released_versions("sglang") if Version(v) >= low and (high is None or Version(v) <= high)
    ]
    if not found:
        raise UsageError(f"no release of sglang lies between {low} and {high or 'now'}")
    return found


def build_history(
    versions: Sequence[str],
    *,
    jobs: int = 2,
    tell: Callable[[str], None] = lambda _: None,
    done: Callable[[str], None] = lambda _: None,
) -> Built:
    """Read all ``versions`` (oldest first) and fold them.

    What was read before by the same extractor is taken from the cache. ``tell`` gets notes for the
    user, ``done`` each version as it is finished. A release that can't be read is among the failures
    and not in the history.
    """
    entries: dict[str, Entry] = {}
    failed: dict[str, IndexerError] = {}
    missing = []
    for version in versions:
        if (kept := _kept(version, tell)) is not None:
            entries[version] = kept
            done(version)
        else:
            missing.append(version)
    for version, outcome in _read_all(missing, jobs):
        if isinstance(outcome, Entry):
            entries[version] = outcome
        else:
            failed[version] = outcome
        done(version)
    ordered = [entries[version] for version in versions if version in entries]
    history = fold(
        [entry.release for entry in ordered],
        (entry.facts for entry in ordered),
        generator=followed_version(),
    )
    return Built(history, ordered, failed)


def _entry_path(version: str) -> Path:
    return cache_folder("history") / f"{version}-{followed_version()}.json"


def _kept(version: str, tell: Callable[[str], None]) -> Entry | None:
    path = _entry_path(version)
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Entry)
    except (msgspec.MsgspecError, OSError):
        tell(f"the cache entry of {version} is damaged, reading the release again")
        path.unlink(missing_ok=True)
        return None


def _read_all(versions: Sequence[str], jobs: int) -> Iterator[tuple[str, Entry | IndexerError]]:
    """Read releases in worker processes, as many at once as there are jobs."""
    if not versions:
        return
    workers = max(1, min(jobs, len(versions), cores()))
    # A fresh interpreter per worker: a fork would inherit the parent's locks and terminal state.
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_parent) as pool:
        pending: dict[Future[Entry], str] = {
            pool.submit(read_release, version): version for version in versions
        }
        try:
            while pending:
                finished, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield pending.pop(future), _outcome(future)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _outcome(future: Future[Entry]) -> Entry | IndexerError:
    try:
        return future.result()
    except IndexerError as error:
        return error
    except Exception as error:
        return CannotError(f"reading failed: {type(error).__name__}: {error}")


def read_release(version: str) -> Entry:
    """Return a release's entry, and keep it in the cache; a wheel fetched for it alone is dropped.

    Raises:
        UsageError: there is no such release.
        CannotError: it can't be fetched or read.
    """
    from indexer.extract.followed import extract_followed
    from indexer.source.release import open_release
    from indexer.source.wheels import cached_wheel

    had_wheel = cached_wheel("sglang", version) is not None
    tree = open_release(version)
    entry = Entry(Release(version, tree.artifact, tree.sha256), facts_of(extract_followed(tree)))
    write_atomically(_entry_path(version), msgspec.json.encode(entry))
    forget_older(_entry_path(version))
    if not had_wheel and (wheel := cached_wheel("sglang", version)) is not None:
        tree.close()
        wheel.unlink(missing_ok=True)
    return entry
