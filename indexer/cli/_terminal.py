"""Plain text for a terminal of about 80 columns: headings, labelled rows, wrapped prose."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import TextIO

import click

from indexer.knowledge.schema import Location

_LABEL = 13
_WIDEST = 100
FOLD = 8
"""Lists longer than this are cut, with a line saying how many more there are."""


class Sheet:
    """Collects the lines of one answer."""

    def __init__(self, fold: bool = True) -> None:
        self.width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
        self.lines: list[str] = []
        self._fold = fold

    @property
    def folds(self) -> bool:
        """Tell whether long lists are cut."""
        return self._fold

    def title(self, name: str, about: str) -> None:
        """Add the answer's first line: the name, and at the right what it is."""
        gap = max(2, self.width - len(name) - len(about))
        self.lines.append(click.style(name, bold=True) + " " * gap + click.style(about, dim=True))

    def prose(self, text: str) -> None:
        """Add wrapped text, keeping its paragraphs."""
        for paragraph in text.strip().splitlines():
            self.lines += textwrap.wrap(
                " ".join(paragraph.split()), self.width, initial_indent="  ", subsequent_indent="  "
            )

    def gap(self) -> None:
        """Add an empty line."""
        self.lines.append("")

    def row(self, label: str, value: str, at: Location | None = None, note: str = "") -> None:
        """Add ``label  value  path:line``; the place moves to its own line where it doesn't fit."""
        head = "  " + click.style(f"{label:<{_LABEL}}", dim=True)
        if len(label) >= _LABEL:  # it would run into its value: give it a line of its own
            self.lines.append(head)
            head = " " * (_LABEL + 2)
        wrapped = textwrap.wrap(value, self.width - _LABEL - 2) or [""]
        self.lines.append(head + wrapped[0])
        self.lines += [" " * (_LABEL + 2) + line for line in wrapped[1:]]
        told = " ".join(part for part in (place(at) if at else "", note) if part)
        if not told:
            return
        if not value:
            self.lines[-1] = head + click.style(told, fg="cyan")
        elif len(wrapped) == 1 and _LABEL + 4 + len(wrapped[0]) + len(told) <= self.width:
            self.lines[-1] += "  " + click.style(told, fg="cyan")
        else:
            self.lines.append(" " * (_LABEL + 2) + click.style(told, fg="cyan"))

    def section(self, heading: str, count: int | None = None) -> None:
        """Add a heading after an empty line."""
        self.lines += ["", click.style(heading, bold=True) + (f" ({count})" if count is not None else "")]

    def entries(self, entries: Iterable[tuple[str, Location | None]]) -> None:
        """Add ``text`` with its place below, folding a long list."""
        listed = list(entries)
        shown = listed if not self._fold or len(listed) <= FOLD + 1 else listed[:FOLD]
        for text, at in shown:
            told = place(at) if at else ""
            if told and len(text) + len(told) + 4 <= self.width and "\n" not in text:
                self.lines.append(f"  {text}  " + click.style(told, fg="cyan"))
                continue
            for line in text.splitlines():
                self.lines += textwrap.wrap(
                    line, self.width, initial_indent="  ", subsequent_indent="    ", break_long_words=False
                )
            if told:
                lead = len(text) - len(text.lstrip())
                self.lines.append(" " * (lead + 4) + click.style(told, fg="cyan"))
        if len(shown) < len(listed):
            self.lines.append(f"  … and {len(listed) - len(shown)} more (--full shows them)")

    def show(self) -> None:
        """Print the answer."""
        click.echo("\n".join(self.lines))


_LABELLED = re.compile(r"\s*\S{1,20}\s{2,}")
_SNIPPET = re.compile(r"\s*\d* \| ")


def fit(text: str, stream: TextIO | None = None) -> str:
    """Return lines wrapped at words to the terminal's width, with a hanging indent.

    In a pipe, where a line is a record, they stay as they are; so do quoted source lines. ``stream`` is where
    the text goes, stdout if it isn't told.
    """
    if not (stream or sys.stdout).isatty():
        return text
    width = shutil.get_terminal_size((80, 24)).columns
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= width or _SNIPPET.match(line):
            lines.append(line)
            continue
        indent = " " * (len(line) - len(line.lstrip()))
        column = _LABELLED.match(line)
        lines += textwrap.wrap(
            line.strip(),
            width,
            initial_indent=indent,
            subsequent_indent=" " * column.end() if column else indent + " " * 4,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def cut(text: str) -> str:
    """Return a line cut to the terminal's width; whole where it goes into a pipe."""
    width = shutil.get_terminal_size((80, 24)).columns
    return text if len(text) <= width or not sys.stdout.isatty() else text[: width - 1] + "…"


def place(at: Location) -> str:
    """Return ``path:line`` or ``path:line-end``."""
    end = f"-{at.end_line}" if at.end_line and at.end_line != at.line else ""
    return f"{at.path}:{at.line}{end}"
