"""Finding the files to check, and checking many of them on all cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.drift.check import Checker, FileResult
from indexer.drift.launch.read import kind_of
from indexer.workers import cores

if TYPE_CHECKING:
    from concurrent.futures import Future

SKIPPED_FOLDERS = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        "node_modules",
        "__pycache__",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        "site-packages",
    ]
)
_SYSTEM_FOLDERS = frozenset(map(Path, ["/proc", "/sys", "/dev", "/run"]))
"""What stands there is no file, and reading some of it never ends."""
PARALLEL_FROM = 64
"""Below this many files, starting workers costs more than it gains."""

_CHUNK = 16
_AHEAD = 4
"""So many chunks of files are given to each worker before the first of them must be back."""

_checker: Checker | None = None


def find_files(paths: Iterable[Path], exclude: Sequence[str] = ()) -> Iterator[tuple[Path, str]]:
    """Yield ``(path, name)``: named files whatever they are, and below folders the files whose name
    (or first line) says that they may hold launches. Links to folders are not followed. A path that is not
    there is told by whoever reads it: it must not cost the findings in the others.
    """
    seen: set[Path] = set()
    for path in paths:
        for file in _below(path) if path.is_dir() else [path]:
            name = file.as_posix()
            if file not in seen and not any(fnmatch(name, pattern) for pattern in exclude):
                seen.add(file)
                yield file, name


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED_FOLDERS and Path(root, name) not in _SYSTEM_FOLDERS
        )
        for name in sorted(names):
            file = Path(root, name)
            if kind_of(file) is not None or (not file.suffix and _has_shebang(file)):
                yield file


def _has_shebang(file: Path) -> bool:
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            return kind_of(file, stream.read(200)) is not None
    except OSError:
        return False


def check_files(checker: Checker, files: Sequence[tuple[Path, str]]) -> Iterator[FileResult]:
    """Check the files in order, on all cores where there are many; few are in memory at any time."""
    workers = min(cores(), 8)
    if len(files) < PARALLEL_FROM or workers < 2 or not hasattr(os, "fork"):
        yield from (checker.check_path(path, name) for path, name in files)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _checker
    _checker = checker  # forked workers inherit it: nothing is pickled but names and results
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker)
    try:
        waiting: deque[Future[list[FileResult]]] = deque()
        for begin in range(0, len(files), _CHUNK):
            if len(waiting) >= workers * _AHEAD:
                yield from waiting.popleft().result()
            waiting.append(pool.submit(_check_chunk, files[begin : begin + _CHUNK]))
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Ctrl-C goes to the whole group: only the parent answers it."""
    import signal

    from indexer.workers import end_with_parent

    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_chunk(jobs: Sequence[tuple[Path, str]]) -> list[FileResult]:
    assert _checker is not None
    results = [_checker.check_path(path, name) for path, name in jobs]
    for result in results:
        if not result.findings and not _checker.keeps_texts and "indexer:" not in (result.text or ""):
            result.text = None  # nothing will be asked of it
    return results
