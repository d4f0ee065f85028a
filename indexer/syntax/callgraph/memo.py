"""Answers remembered across a recursion that may meet its own question again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.syntax.callgraph.values import Types

MAX_DEPTH = 80
_NEVER = 1 << 30


class Memo:
    """Results by question. One that was cut at a cycle is kept only while the question above it is open."""

    def __init__(self) -> None:
        self.done: dict[Any, Types] = {}
        self._provisional: dict[Any, tuple[Types, int]] = {}
        self._active: dict[Any, int] = {}
        self._low = _NEVER

    def once(self, key: Any, compute: Callable[[], Types]) -> Types:
        """Compute a result once; one that met an unfinished question above is kept only below it."""
        done = self.done.get(key)
        if done is not None:
            return done
        if key in self._active:
            self._low = min(self._low, self._active[key])
            return {}
        if key in self._provisional:
            result, low = self._provisional[key]
            self._low = min(self._low, low)
            return result
        depth = len(self._active)
        if depth > MAX_DEPTH:
            self._low = 0
            return {}
        self._active[key] = depth
        outer, self._low = self._low, _NEVER
        kept = len(self._provisional)
        result = compute()
        del self._active[key]
        if self._low >= depth:
            self.done[key] = result
            # what was left unfinished meanwhile is all the newest, and none of it hangs on anything above
            while len(self._provisional) > kept:
                self._provisional.popitem()
            self._low = outer
        else:
            self._provisional[key] = (result, self._low)
            self._low = min(outer, self._low)
        return result
