"""What a path knows beyond the types: asked by inference at every guard, attribute, result and parameter."""

from __future__ import annotations

from typing import Protocol

from indexer.syntax.callgraph.symbols import Class, Function, Module
from indexer.syntax.callgraph.values import Frame, Types


class Selector(Protocol):
    """What a path knows beyond the types: declared bindings and guards that are certainly false."""

    def impossible(self, module: Module, guard: int) -> bool:
        """Whether the guard is certainly false."""
        ...

    def attribute(self, owner: Class | None, name: str, found: Types, frame: Frame | None) -> Types | None:
        """Return the bound class for an attribute, or None when no binding speaks."""
        ...

    def result(self, function: Function, found: Types, frame: Frame | None) -> Types | None:
        """Return the bound class for a function's result, or None."""
        ...

    def parameter(self, name: str, found: Types, frame: Frame) -> Types | None:
        """Return the bound class for a parameter, or None."""
        ...


class NoSelector:
    """Nothing is known: every guard may hold."""

    def impossible(self, module: Module, guard: int) -> bool:
        return False

    def attribute(self, owner: Class | None, name: str, found: Types, frame: Frame | None) -> Types | None:
        return None

    def result(self, function: Function, found: Types, frame: Frame | None) -> Types | None:
        return None

    def parameter(self, name: str, found: Types, frame: Frame) -> Types | None:
        return None
