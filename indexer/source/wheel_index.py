"""What is remembered of a cached wheel, so that opening it again reads neither all of it nor its directory.

A zip's directory of thousands of members takes a tenth of a second to read, a hash of the whole file as
long. Both are kept in the user's cache together with the file's size, times and inode: a wheel that was
replaced or touched is read anew.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from indexer.errors import CannotError
from indexer.source.cache import cache_folder, keep

_VERSION = 1
"""Raised when an index says something else than it used to."""


class WheelIndex(msgspec.Struct):
    """A wheel file's hash, the repo-relative paths of its package's Python files, and its METADATA."""

    state: list[int]
    sha256: str
    paths: list[str]
    metadata: str | None
    version: int = _VERSION


def state_of(wheel: Path) -> list[int]:
    """Return what changes when a file is replaced or written: size, times (ns) and inode.

    Raises:
        OSError: it isn't there.
    """
    seen = wheel.stat()
    return [seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino]


def read_index(wheel: Path) -> WheelIndex | None:
    """Return what is remembered of a wheel; None where nothing is, or the file has changed since."""
    try:
        index = msgspec.json.decode(_file(wheel).read_bytes(), type=WheelIndex)
        return index if index.version == _VERSION and index.state == state_of(wheel) else None
    except (OSError, CannotError, msgspec.MsgspecError):
        return None


def write_index(wheel: Path, index: WheelIndex) -> None:
    """Remember a wheel."""
    with contextlib.suppress(CannotError):
        keep(_file(wheel), msgspec.json.encode(index))


def _file(wheel: Path) -> Path:
    """Return where a wheel's index lies; wheels of one name may lie in several folders."""
    import hashlib

    place = hashlib.blake2b(str(wheel.resolve()).encode(), digest_size=6).hexdigest()
    return cache_folder("wheel-index") / f"{wheel.stem}-{place}.json"
