"""A source tree held in memory, for tests."""

from __future__ import annotations

from indexer.source.tree import SourceTree


class MemoryTree(SourceTree):
    """A tree made of a dictionary: repo-relative path to source text."""

    origin = "folder"

    def __init__(self, files: dict[str, str], version: str = "0.0.0") -> None:
        self.version = version
        self._files = files

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def read(self, path: str) -> bytes:
        try:
            return self._files[path].encode()
        except KeyError:
            raise FileNotFoundError(path) from None

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        return None
