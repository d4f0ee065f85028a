"""The user's cache folder, and locks in it that die with their process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indexer.errors import CannotError

CACHE_VARIABLE = "SGLANG_INDEXER_CACHE"


def cache_root() -> Path:
    """Return the cache folder: ``$SGLANG_INDEXER_CACHE``, or the platform's usual place."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("sglang-indexer", appauthor=False)


def cache_folder(name: str) -> Path:
    """Return ``name`` in the cache folder, created.

    Raises:
        CannotError: the folder can't be created or written.
    """
    folder = cache_root() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotError(
            f"cache folder {folder} can't be created ({error.strerror or error})",
            f"make it writable or set {CACHE_VARIABLE} to another folder",
        ) from error
    return folder


def keep(file: Path, content: bytes) -> None:
    """Write a file of the cache, whole or not at all; one that can't be written only costs time."""
    import tempfile

    begun = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            begun = Path(temporary.name)
            temporary.write(content)
        begun.replace(file)
    except OSError:
        if begun is not None:
            begun.unlink(missing_ok=True)


_KEPT = 4


def forget_older(entry: Path) -> None:
    """Drop what earlier code kept of the same release beside ``entry`` (``VERSION-DIGEST.json``).

    The newest few stay: switching between checkouts of this program should not make them again.
    """
    version = entry.name.rpartition("-")[0]
    others = [path for path in entry.parent.glob(f"{version}-*") if path.name.rpartition("-")[0] == version]
    for old in sorted(others, key=_changed, reverse=True)[_KEPT:]:
        if old != entry:
            with suppress(OSError):  # gone already, or a folder that can only be read
                old.unlink()


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of ``path`` (a file ``path.lock`` beside it) while the block runs.

    Another process waits for its turn. The operating system frees the lock when its holder dies, so a
    killed process never blocks the next one.
    """
    from filelock import FileLock

    lock = path.with_name(path.name + ".lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            yield
    except PermissionError as error:
        raise CannotError(
            f"{lock} can't be written ({error.strerror})",
            f"make the folder writable or set {CACHE_VARIABLE} to another folder",
        ) from error
