"""Lines of the user's own copy of the source, highlighted, for the pages that cite them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from indexer.errors import CannotError
from indexer.knowledge.schema import Location

if TYPE_CHECKING:
    from indexer.source.tree import SourceTree

_CONTEXT = 2
_LONGEST = 36


class Line(msgspec.Struct):
    """A line of an excerpt: its number, its highlighted HTML, and whether it is the cited one."""

    number: int
    html: str
    cited: bool


class Excerpt(msgspec.Struct):
    """A few lines around a cited place; ``cut`` counts the cited lines left out at the end."""

    at: Location
    permalink: str | None
    lines: list[Line]
    cut: int = 0


class SourceText:
    """The lines of a tree's files, each file read once."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._lexer = PythonLexer(stripnl=False, ensurenl=False)
        self._formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=True, classprefix="k-")
        self.lines = lru_cache(maxsize=None)(self._lines)

    def _lines(self, path: str) -> list[str]:
        """Return a file's lines; none where the tree has no such file or it can't be decoded."""
        try:
            return self.tree.text(path).split("\n")
        except (FileNotFoundError, CannotError):
            return []

    def cited(self, at: Location) -> str:
        """Return the text of the cited lines."""
        return "\n".join(self.lines(at.path)[at.line - 1 : at.end_line or at.line])

    def permalink(self, at: Location) -> str | None:
        """Return the address of the cited lines, where the tree has one."""
        return self.tree.permalink(at.path, at.line, at.end_line)

    def excerpt(self, at: Location, context: int = _CONTEXT) -> Excerpt | None:
        """Return the cited lines with some around them, or None where the tree has no such lines."""
        lines = self.lines(at.path)
        if not 0 < at.line <= len(lines):
            return None
        last_cited = min(at.end_line or at.line, len(lines))
        shown_to = min(last_cited, at.line + _LONGEST - 1)
        first = max(1, at.line - context)
        last = shown_to if shown_to < last_cited else min(len(lines), shown_to + context)
        while first < at.line and not lines[first - 1].strip():
            first += 1
        while last > shown_to and not lines[last - 1].strip():
            last -= 1
        return Excerpt(
            at,
            self.permalink(at),
            self._highlighted(lines[first - 1 : last], first, at.line, shown_to),
            cut=last_cited - shown_to,
        )

    def _highlighted(self, lines: list[str], first: int, cited: int, cited_end: int) -> list[Line]:
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        code = "\n".join(line[indent:] for line in lines)
        html = highlight(code, self._lexer, self._formatter).split("\n")
        return [
            Line(number, html[offset] if offset < len(html) else "", cited <= number <= cited_end)
            for offset, number in enumerate(range(first, first + len(lines)))
        ]
