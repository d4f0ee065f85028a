"""Whether a function plays a role, and the lines that show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from functools import cache, lru_cache

from indexer.extract.code_paths.plan import Role, split
from indexer.syntax.callgraph.edges import Edge, Edges, Node
from indexer.syntax.callgraph.symbols import Class, Function


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> Callable[[str], object]:
    return re.compile("|".join(translate(one) for one in split(pattern))).match


@lru_cache(maxsize=1 << 18)
def glob(text: str, pattern: str) -> bool:
    """Whether ``text`` matches one of the ``|``-separated shell patterns (case counts)."""
    return bool(pattern) and _compiled(pattern)(text) is not None


class Matcher:
    """Tests roles on nodes; ``bound`` gives the class of each binding."""

    def __init__(self, edges: Edges, bound: dict[str, Class]) -> None:
        self.edges = edges
        self.bound = bound

    def plays(self, role: Role, node: Node, edge: Edge | None) -> bool:
        """Whether ``node``, reached over ``edge``, plays the role."""
        function = node.function
        if role.name and not glob(function.name, role.name):
            return False
        if role.module and not glob(function.module.path, role.module):
            return False
        if role.class_ and not self._in_class(role.class_, node):
            return False
        if role.on and not self._on(role.on, node):
            return False
        if role.constructor and not (edge is not None and edge.kind == "constructor"):
            return False
        if role.called_as and not (edge is not None and glob(last_part(edge.text), role.called_as)):
            return False
        if role.called_with and not (edge is not None and _has(edge.arguments, role.called_with)):
            return False
        if role.decorated and not any(glob(d, role.decorated) for d in function.scope.decorators):
            return False
        if role.parameters and not all(
            any(glob(p.name, wanted) for p in function.scope.parameters) for wanted in role.parameters
        ):
            return False
        if role.any and not any(self.plays(one, node, edge) for one in role.any):
            return False
        if not self._effects(role, node, role.depth, set()):
            return False
        return role.not_ is None or not self.plays(role.not_, node, edge)

    def _in_class(self, pattern: str, node: Node) -> bool:
        classes = list(node.shown_class.mro) if node.shown_class else []
        if node.function.cls is not None:
            classes.append(node.function.cls)
        return any(glob(cls.scope.name, pattern) for cls in classes)

    def _on(self, binding: str, node: Node) -> bool:
        cls = self.bound.get(binding)
        shown = node.shown_class
        return cls is not None and shown is not None and shown.is_below(cls)

    def _effects(self, role: Role, node: Node, depth: int, seen: set[Function]) -> bool:
        if not (role.calls or role.passes or role.writes or role.reads or role.returns or role.mentions):
            return True
        seen.add(node.function)
        if self._own_effects(role, node.function):
            return True
        if depth <= 0:
            return False
        sure = (edge.target for edge in self.edges.of(node) if edge.certainty != "guessed")
        return any(t.function not in seen and self._effects(role, t, depth - 1, seen) for t in sure)

    def _own_effects(self, role: Role, function: Function) -> bool:
        return (
            all(any(True for _ in call_lines(function, p)) for p in role.calls)
            and all(any(True for _ in passing_lines(function, p)) for p in role.passes)
            and all(any(True for _ in write_lines(function, p)) for p in role.writes)
            and all(any(True for _ in read_lines(function, p)) for p in role.reads)
            and all(any(True for _ in return_lines(function, p)) for p in role.returns)
            and all(any(True for _ in mention_lines(function, p)) for p in role.mentions)
        )


@cache
def last_part(text: str) -> str:
    """Return the last name of a dotted text."""
    return re.split(r"[.\[(]", text.split("[")[0])[-1] if "(" not in text else text.rsplit(".", 1)[-1]


def _has(text: str, pattern: str) -> bool:
    return any(one in text for one in split(pattern))


def _scopes(function: Function) -> Iterator[Function]:
    return function.with_nested()


def call_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of calls whose callee text, or its last name, matches."""
    for scope in _scopes(function):
        for call in scope.scope.calls:
            if glob(call.callee, pattern) or glob(last_part(call.callee), pattern):
                yield call.line


def passing_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of calls whose arguments contain a text."""
    for scope in _scopes(function):
        for call in scope.scope.calls:
            if _has(call.arguments, pattern):
                yield call.line


def write_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of stores to an attribute (or a slice of a name) that matches."""
    for scope in _scopes(function):
        for store in scope.scope.stores:
            for name in stored_names(store.target):
                if glob(name, pattern):
                    yield store.line
    for scope in _scopes(function):
        for call in scope.scope.calls:
            if last_part(call.callee) in IN_PLACE:
                owner = call.callee.rsplit(".", 1)[0]
                if any(glob(name, pattern) for name in re.findall(r"\w+", owner)):
                    yield call.line


IN_PLACE = frozenset({"copy_", "fill_", "zero_", "index_copy_", "index_fill_", "masked_fill_", "scatter_"})
"""Tensor methods that write their receiver."""


def stored_names(target: str) -> Iterable[str]:
    """Return the attribute or sliced names that a store's target writes."""
    for part in target.strip("()").split(","):
        base = part.split("[")[0].strip()
        if "." in base or "[" in part:
            yield base.rsplit(".", 1)[-1]


def read_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of attribute reads whose last name matches."""
    for scope in _scopes(function):
        for line, text, _ in scope.reads:
            if any(glob(name, pattern) for name in text.split(".")[1:]):
                yield line


def return_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of returns that name something that matches."""
    for entry in function.scope.returns:
        if any(glob(name, pattern) for name in re.findall(r"\w+", entry.value)):
            yield entry.line


def store_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of stores to any name, local or attribute, that matches."""
    for scope in _scopes(function):
        for store in scope.scope.stores:
            if any(
                glob(part.split("[")[0].strip().rsplit(".", 1)[-1], pattern)
                for part in store.target.split(",")
            ):
                yield store.line


def mention_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of calls of a name and of stores whose value is that name."""
    yield from call_lines(function, pattern)
    for scope in _scopes(function):
        for store in scope.scope.stores:
            if glob(store.value, pattern):
                yield store.line


def guard_lines(function: Function, pattern: str) -> Iterator[int]:
    """Yield the lines of conditions in the function that name something that matches."""
    first, last = function.scope.line, function.scope.end_line
    for guard in function.module.facts.guards:
        if first <= guard.line <= last and any(glob(n, pattern) for n in re.findall(r"\w+", guard.text)):
            yield guard.line


ANCHORS = {
    "call": call_lines,
    "pass": passing_lines,
    "write": write_lines,
    "store": store_lines,
    "value": read_lines,
    "return": return_lines,
    "guard": guard_lines,
}


def anchor_lines(function: Function, anchors: Iterable[str]) -> list[tuple[int, str]]:
    """Return the cited lines inside a function, each with the anchor that asked for it."""
    found: dict[int, str] = {}
    for anchor in anchors:
        kind, _, pattern = anchor.partition(":")
        for line in ANCHORS[kind](function, pattern):
            found.setdefault(line, anchor)
    return sorted(found.items())
