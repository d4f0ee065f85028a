"""Control-flow signals of the interpreter itself.

They derive from ``BaseException`` and every rewritten ``try`` lets them through, so that interpreted
code can't catch them: a failure of ours must never look like a refusal of SGLang's.
"""

from __future__ import annotations

_unhandled: list[Unsupported] = []


def begin_path() -> None:
    """Forget the signals of earlier paths."""
    _unhandled.clear()


def handled(signal: Unsupported) -> None:
    """Say that the interpreter itself dealt with a signal, so that it decides nothing."""
    if signal in _unhandled:
        _unhandled.remove(signal)


def swallowed() -> Unsupported | None:
    """Return a signal of this path that was raised and not dealt with, if there is one.

    Interpreted code has ways to go on after one that no rewriting catches (a context manager that
    swallows everything, ``return`` in ``finally``): such a path proves nothing.
    """
    return _unhandled[0] if _unhandled else None


class Signal(BaseException):
    """Base of the interpreter's own signals."""


class Unsupported(Signal):
    """Something the interpreter can't do faithfully: the outcome of this path is unknown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        _unhandled.append(self)


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
