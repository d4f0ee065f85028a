"""The one family of errors a user may see, each with its exit code.

Exit codes of every command: 0 clean, 1 findings, 2 usage, 3 could not do it
(network, environment, unreadable input).
"""

from __future__ import annotations

CLEAN, FINDINGS, USAGE, CANNOT = 0, 1, 2, 3


class IndexerError(Exception):
    """A failure told to the user in one line: what, where, and what to do about it.

    ``message`` says what went wrong and where, ``fix`` what the user can do.
    """

    exit_code = CANNOT

    def __init__(self, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}; {self.fix}" if self.fix else self.message


class UsageError(IndexerError):
    """The command was called wrongly (exit code 2)."""

    exit_code = USAGE


class CannotError(IndexerError):
    """Network, environment or input stopped the work (exit code 3)."""

    exit_code = CANNOT
