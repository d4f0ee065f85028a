"""The one family of errors a user may see, each with its exit code.

Exit codes of every command: 0 clean, 1 findings, 2 usage, 3 could not do it
(network, environment, unreadable input).
"""

from __future__ import annotations

import re

CLEAN, FINDINGS, USAGE, CANNOT = 0, 1, 2, 3


_LONGEST = 200
_KEPT_END = 60
"""So much of the end stays: a file's name, a closing quote."""
_QUOTATION_OR_WORD = re.compile(r"(?<!\w)'[^'\n]*'(?!\w)|[^\s'\"`]+")


def shortened(text: str) -> str:
    """Return a message in which words and quotations of absurd length, which a user gave, are cut."""
    return _QUOTATION_OR_WORD.sub(_cut, text) if len(text) > _LONGEST else text


def _cut(found: re.Match[str]) -> str:
    told = found[0]
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST // 2]}…{told[-_KEPT_END:]}"


class IndexerError(Exception):
    """A failure told to the user in one line: what, where, and what to do about it.

    ``message`` says what went wrong and where, ``fix`` what the user can do.
    """

    exit_code = CANNOT

    def __init__(self, message: str, fix: str | None = None) -> None:
        self.message = shortened(message)
        self.fix = shortened(fix) if fix is not None else None
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}" if self.fix else self.message


class UsageError(IndexerError):
    """The command was called wrongly (exit code 2)."""

    exit_code = USAGE


class CannotError(IndexerError):
    """Network, environment or input stopped the work (exit code 3)."""

    exit_code = CANNOT
