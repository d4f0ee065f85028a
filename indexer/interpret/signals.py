"""Control-flow signals of the interpreter itself.

They derive from ``BaseException`` and every rewritten ``try`` lets them through, so that interpreted
code can't catch them: a failure of ours must never look like a refusal of SGLang's.
"""

from __future__ import annotations


class Signal(BaseException):
    """Base of the interpreter's own signals."""


class Unsupported(Signal):
    """Something the interpreter can't do faithfully: the outcome of this path is unknown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnknownEscaped(Signal):
    """Native code asked an ``Unknown`` for something only a known value has (length, text, items)."""

    def __init__(self, unknown: object, operation: str) -> None:
        super().__init__(f"{operation} of {unknown!r}")
        self.unknown = unknown
        self.operation = operation


class BudgetExceeded(Signal):
    """The path ran longer than its budget of calls and loop turns."""


UNCATCHABLE = (Signal, RecursionError, MemoryError)
"""What interpreted ``except`` clauses must let through."""
