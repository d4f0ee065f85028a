"""From a version to its snapshot: the user's cache first, extraction when it has none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import CannotError, UsageError
from indexer.extractor_version import extractor_version
from indexer.knowledge.store import load_snapshot, save_snapshot
from indexer.source.cache import cache_folder

if TYPE_CHECKING:
    from indexer.knowledge.schema import Snapshot
    from indexer.source.tree import SourceTree


_KEPT = 4
"""Entries kept of one version: switching between checkouts of this program should not extract again."""


def default_version() -> str:
    """Return the version meant where none is named: the default pin."""
    from indexer.source.pins import load_pins

    return load_pins().default


def cached_path(version: str) -> Path:
    """Return where the snapshot of a release lies in the user's cache."""
    return cache_folder("snapshots") / f"{version}-{extractor_version()}.json"


def snapshot_of(tree: SourceTree) -> Snapshot:
    """Return the snapshot of an open tree, extracted now (files read before come from the cache).

    Raises:
        CannotError: its argument code can't be read.
    """
    from indexer.extract.snapshot import extract_snapshot

    return extract_snapshot(tree)


def followed_of(tree: SourceTree) -> Snapshot:
    """Return only the facts of an open tree that are followed through releases; much quicker.

    Raises:
        CannotError: its argument code can't be read.
    """
    from indexer.extract.followed import extract_followed

    return extract_followed(tree)


def get_snapshot(version: str | None = None, tree: SourceTree | None = None) -> Snapshot:
    """Return the snapshot of a release (None: the default pin), extracted when the cache has none.

    A cache entry that can't be read is made again. ``tree`` saves opening the release twice.

    Raises:
        UsageError: there is no such release.
        CannotError: it can't be fetched or read.
    """
    version = version or default_version()
    path = cached_path(version)
    if path.is_file():
        try:
            return load_snapshot(path)
        except (UsageError, CannotError):
            path.unlink(missing_ok=True)
    from indexer.source import open_source

    snapshot = snapshot_of(tree or open_source(version))
    save_snapshot(snapshot, path)
    _forget_older(version, path)
    return snapshot


def _forget_older(version: str, keep: Path) -> None:
    """Drop the version's entries made by earlier extractors, but for the newest few."""
    entries = [path for path in keep.parent.glob(f"{version}-*.json") if _is_of(version, path)]
    entries.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for old in entries[_KEPT:]:
        if old != keep:
            old.unlink(missing_ok=True)


def _is_of(version: str, path: Path) -> bool:
    return path.stem.rpartition("-")[0] == version
