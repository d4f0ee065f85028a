"""A source tree held in memory, and sources to put into one, for tests."""

from __future__ import annotations

from indexer.source.tree import SourceTree

ARGUMENTS = """
import argparse
import dataclasses


@dataclasses.dataclass
class ServerArgs:
    steps: int = {default}

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--steps", type=int, default=ServerArgs.steps)
"""
"""A ``server_args.py`` with one option, whose ``default`` tells one such file from another."""


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
