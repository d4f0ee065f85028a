"""Accepting findings where they stand: ``# indexer: ignore[code] reason``."""

from __future__ import annotations

import re

from indexer.drift.lint.lints import CODES
from indexer.drift.report.record import Finding

_COMMENT = re.compile(
    r"(?:#|//|<!--)[ \t]*indexer:[ \t]*ignore(?P<file>-file)?[ \t]*\[(?P<codes>[\w\s,-]*)\](?P<reason>[^\n]*)"
)
_ONLY_COMMENT = re.compile(r"^[ \t]*(?:#|//|<!--)")


class Comments:
    """The ignore comments of one file.

    A comment behind code concerns its line; one alone on a line the following command, however many
    lines it is continued over; ``ignore-file`` the whole file.
    """

    def __init__(self, text: str) -> None:
        self.everywhere: set[str] = set()
        self.on_line: dict[int, set[str]] = {}
        self.problems: list[str] = []
        if "indexer:" not in text:
            return
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            match = _COMMENT.search(line)
            # One in backticks is about comments; it is none.
            if match and line[match.start() - 1 : match.start()] != "`":
                self._add(match, number, lines)

    def _add(self, match: re.Match[str], number: int, lines: list[str]) -> None:
        codes = {code.strip() for code in match["codes"].split(",") if code.strip()}
        for code in sorted(codes - set(CODES)):
            self.problems.append(f"line {number}: ignore[{code}]: no such code")
        if not match["reason"].replace("-->", "").strip():
            self.problems.append(f"line {number}: an ignore comment needs a reason behind it")
            return
        if match["file"]:
            self.everywhere |= codes
            return
        concerned = [number]
        if _ONLY_COMMENT.match(lines[number - 1]):
            concerned = _following_command(lines, number)
        for line in concerned:
            self.on_line.setdefault(line, set()).update(codes)

    def accepts(self, finding: Finding) -> bool:
        """True when a comment accepts the finding."""
        return finding.code in self.everywhere or finding.code in self.on_line.get(finding.line, ())


def _following_command(lines: list[str], number: int) -> list[int]:
    """Return the 1-based lines of the command behind the comment on line ``number``."""
    at = number
    while at < len(lines) and (not lines[at].strip() or _ONLY_COMMENT.match(lines[at])):
        at += 1
    concerned = []
    while at < len(lines):
        concerned.append(at + 1)
        if not lines[at].rstrip().endswith("\\"):
            break
        at += 1
    return concerned
