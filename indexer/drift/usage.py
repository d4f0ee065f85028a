"""Where the user's own files mention flags, fields and variables, so that drift tells what matters there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from indexer.drift.change import Change
from indexer.errors import UsageError

MAX_BYTES = 2 * 1024 * 1024
_SKIPPED_FOLDERS = {".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", "_site", ".tox"}
_WORD = re.compile(r"--[A-Za-z][\w-]*|[A-Za-z_]\w*")


class Mention(NamedTuple):
    """A word at a place in the user's files; ``column`` is 1-based and counts characters."""

    file: str
    line: int
    column: int
    text: str


class Usage:
    """All words of the user's files that could be a flag, a field or a variable."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        self._by_text: dict[str, list[Mention]] = {}
        for mention in mentions:
            self._by_text.setdefault(mention.text, []).append(mention)

    def of(self, change: Change) -> list[Mention]:
        """Return the places that a change concerns."""
        words = [change.name]
        if change.code.startswith("abbreviation-") and isinstance(change.old, list):
            words = change.old
        elif change.kind == "flags":
            words += [change.name.lstrip("-").replace("-", "_")]
            words += [change.old] if change.code == "flag-dest" else []
        return sorted({mention for word in words for mention in self._by_text.get(word, ())})


def read_usage(paths: Iterable[Path]) -> Usage:
    """Read the text files at and below ``paths``.

    Raises:
        UsageError: a path is not there.
    """
    return Usage(mention for path in paths for file in _files(path) for mention in _mentions(file))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise UsageError(f"there is no file or folder {path}")
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        yield from (Path(folder, name) for name in sorted(names))


def _mentions(file: Path) -> Iterator[Mention]:
    try:
        if file.stat().st_size > MAX_BYTES:
            return
        raw = file.read_bytes()
    except OSError:
        return
    if b"\0" in raw[:4096]:
        return
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), start=1):
        for match in _WORD.finditer(line):
            yield Mention(file.as_posix(), number, match.start() + 1, match[0].rstrip("-"))
