"""From a version to its snapshot: the user's cache first, extraction when it has none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import CannotError, UsageError
from indexer.extractor_version import extractor_version
from indexer.knowledge.store import load_snapshot, save_snapshot
from indexer.progress import tell
from indexer.source.cache import cache_folder, forget_older

if TYPE_CHECKING:
    from indexer.knowledge.schema import Snapshot
    from indexer.source.tree import SourceTree


def default_version() -> str:
    """Return the version meant where none is named: the default pin."""
    from indexer.source.pins import load_pins

    return load_pins().default


def cached_path(version: str, code_paths: bool = True) -> Path:
    """Return where the snapshot of a release, or the one without code paths, lies in the user's cache."""
    part = "" if code_paths else ".facts"
    return cache_folder("snapshots") / f"{version}-{extractor_version()}{part}.json"


def snapshot_of(tree: SourceTree, code_paths: bool = True) -> Snapshot:
    """Return the snapshot of an open tree, extracted now (files read before come from the cache).

    Raises:
        CannotError: its argument code can't be read.
    """
    from indexer.extract.snapshot import extract_snapshot

    return extract_snapshot(tree, code_paths)


def flags_of(tree: SourceTree) -> Snapshot:
    """Return only the flags of an open tree and the names of its algorithms; not kept.

    Raises:
        CannotError: its argument code can't be read.
    """
    from indexer.extract.snapshot import extract_flag_snapshot

    return extract_flag_snapshot(tree)


def followed_of(tree: SourceTree) -> Snapshot:
    """Return only the facts of an open tree that are followed through releases; much quicker.

    Raises:
        CannotError: its argument code can't be read.
    """
    from indexer.extract.followed import extract_followed

    return extract_followed(tree)


def get_snapshot(
    version: str | None = None, tree: SourceTree | None = None, code_paths: bool = True
) -> Snapshot:
    """Return the snapshot of a release (None: the default pin), extracted when the cache has none.

    A cache entry that can't be read is made again. ``tree`` saves opening the release twice. Who needs no
    code paths says so: a release seen for the first time then answers in less than half the time.

    Raises:
        UsageError: there is no such release.
        CannotError: it can't be fetched or read.
    """
    version = version or default_version()
    if (whole := _cached(cached_path(version))) is not None:
        return whole
    facts = _cached(cached_path(version, code_paths=False))
    if facts is not None and not code_paths:
        return facts
    from indexer.source import open_source

    tree = tree or open_source(version)
    if facts is not None:
        from indexer.extract.snapshot import add_code_paths

        snapshot = add_code_paths(facts, tree)
        cached_path(version, code_paths=False).unlink(missing_ok=True)
    else:
        snapshot = snapshot_of(tree, code_paths)
    path = cached_path(version, code_paths)
    save_snapshot(snapshot, path)
    forget_older(path)
    return snapshot


def _cached(path: Path) -> Snapshot | None:
    if path.is_file():
        try:
            return load_snapshot(path)
        except (UsageError, CannotError):
            tell(f"the cached snapshot {path.name} can't be read and is made again")
            path.unlink(missing_ok=True)
    return None
