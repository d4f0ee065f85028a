"""A released wheel, read from its zip without unpacking."""

from __future__ import annotations

import zipfile
from functools import cached_property
from pathlib import Path

from indexer.source.tree import SourceTree

MAX_FILE_BYTES = 16 * 1024 * 1024


class WheelTree(SourceTree):
    """The tree inside a ``sglang-*.whl``."""

    origin = "release"

    def __init__(self, wheel: Path, version: str) -> None:
        self.version = version
        self._zip = zipfile.ZipFile(wheel)

    @cached_property
    def _members(self) -> dict[str, zipfile.ZipInfo]:
        return {
            "python/" + info.filename: info
            for info in self._zip.infolist()
            if info.filename.startswith("sglang/") and info.filename.endswith(".py")
        }

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._members))

    def read(self, path: str) -> bytes:
        try:
            info = self._members[path]
        except KeyError:
            raise FileNotFoundError(path) from None
        return self._zip.read(info)

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        url = f"https://github.com/sgl-project/sglang/blob/v{self.version}/{path}"
        if line:
            url += f"#L{line}"
            if end_line and end_line != line:
                url += f"-L{end_line}"
        return url

    def metadata(self) -> str | None:
        for name in self._zip.namelist():
            if name.endswith(".dist-info/METADATA"):
                return self._zip.read(name).decode("utf-8", "replace")
        return None
