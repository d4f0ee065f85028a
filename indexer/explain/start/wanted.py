"""Finding the file of a release that defines a function, wherever the release keeps it."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from indexer.source.tree import SourceTree

_found: WeakKeyDictionary[SourceTree, dict[tuple[re.Pattern[bytes], tuple[str, ...]], tuple[str, str] | None]]
_found = WeakKeyDictionary()
"""What was found in a tree, so that its many files are searched once."""


def file_with(tree: SourceTree, wanted: re.Pattern[bytes], *folders: str) -> tuple[str, str] | None:
    """Return the first file that holds what is wanted, and the pattern's first group.

    ``folders`` are searched in their order: the likely ones before one that holds them.
    """
    known = _found.setdefault(tree, {})
    key = (wanted, folders)
    if key not in known:
        known[key] = _search(tree, wanted, folders)
    return known[key]


def _search(tree: SourceTree, wanted: re.Pattern[bytes], folders: tuple[str, ...]) -> tuple[str, str] | None:
    seen: set[str] = set()
    for folder in folders:
        for path in tree.walk(folder):
            if path in seen:
                continue
            seen.add(path)
            match = wanted.search(tree.read(path))
            if match:
                return path, match.group(1).decode()
    return None
