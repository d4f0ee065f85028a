"""The output folder: ours or refused, locked while we build, swapped in whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import CannotError, UsageError

MARKER = ".sglang-indexer-site"
"""The file that says an output folder is ours to replace."""


@contextmanager
def replaced_whole(target: Path) -> Iterator[Path]:
    """Give a new folder to build into, and put it in ``target``'s place when the block ends well.

    An interrupted or failed block, and a killed process, leave ``target`` as it was. What a killed
    build left beside ``target`` is removed by the next one.

    Raises:
        UsageError: ``target`` is not a folder, or holds something that we did not build.
        CannotError: it can't be written, or another build is writing it.
    """
    target = target.absolute()
    _refuse_foreign(target)
    with _locked(target):
        _sweep(target)
        try:
            staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.building-"))
        except OSError as error:
            raise _unwritable(target.parent, error) from error
        try:
            yield staging
            (staging / MARKER).write_text("Built by sglang-indexer; the next build replaces this folder.\n")
            staging.chmod(0o755)
            _swap(staging, target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Give a file a second name, or copy it where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _refuse_foreign(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir() or target.is_symlink():
        raise UsageError(f"{target} is not a folder", "name another one with --output")
    try:
        foreign = any(target.iterdir()) and not (target / MARKER).is_file()
    except OSError as error:
        raise CannotError(f"{target}: {error.strerror}", "name another folder with --output") from error
    if foreign:
        raise UsageError(
            f"{target} holds files that sglang-indexer did not build", "name an empty or new folder"
        )
    if not os.access(target, os.W_OK):
        raise CannotError(f"{target} can't be written", "make it writable or name another folder")


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    file = target.parent / f".{target.name}.lock"
    lock = FileLock(file, timeout=0)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        if not file.exists():  # the lock's own file could not be made
            fix = "name another folder with --output"
            raise CannotError(f"{target.parent} can't be written", fix) from None
        raise CannotError(f"another build is writing {target}", "wait for it to end") from None
    except OSError as error:
        raise _unwritable(target.parent, error) from error
    try:
        yield
    finally:
        lock.release()


def _sweep(target: Path) -> None:
    """Remove what killed builds left, and finish a swap that was cut in the middle."""
    for old in target.parent.glob(f".{target.name}.old-*"):
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(target)
    for left in target.parent.glob(f".{target.name}.building-*"):
        shutil.rmtree(left, ignore_errors=True)


def _swap(staging: Path, target: Path) -> None:
    """Move ``staging`` to ``target``; between the two renames the old site is one rename away."""
    if not target.exists():
        staging.rename(target)
        return
    aside = target.with_name(f".{target.name}.old-{os.getpid()}")
    target.rename(aside)
    try:
        staging.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _unwritable(folder: Path, error: OSError) -> CannotError:
    return CannotError(
        f"{folder} can't be written ({error.strerror})", "make it writable or name another folder"
    )
