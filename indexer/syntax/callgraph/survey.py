"""Every call site of a tree, resolved without the context of a caller: the figures and the ad-hoc graph.

Kinds, in the order in which a site counts: ``external`` (torch, the standard library, builtins),
``import or name``, ``self or class``, ``attribute type``, ``annotation``, ``return or argument``,
``override``, ``unique name`` (a guess), ``callback``; ``unknown receiver`` is a method that nothing in the
tree defines, ``unresolved`` is the rest.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import msgspec

from indexer.collector import collector_postponed
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph.load import load_symbols, whole_tree_key
from indexer.syntax.callgraph.surveyor import Part, Surveyor
from indexer.syntax.callgraph.symbols import Symbols
from indexer.syntax.factstore import FactStore
from indexer.workers import cores, end_with_parent


class Place(msgspec.Struct, array_like=True, frozen=True):
    """A function of the tree: where it is defined and what it is called."""

    path: str
    line: int
    qualname: str


class Survey(msgspec.Struct, array_like=True):
    """``counts`` of call sites by kind; ``edges`` as (caller, line, callee, kind) by index."""

    functions: list[Place]
    kinds: list[str]
    edges: list[tuple[int, int, int, int]]
    counts: dict[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """Per cent of all call sites that are not external, by kind; ``external`` of all sites."""
        total = sum(self.counts.values()) or 1
        external = self.counts.get("external", 0)
        inside = max(total - external, 1)
        shares = {kind: 100 * n / inside for kind, n in sorted(self.counts.items()) if kind != "external"}
        return {"external": 100 * external / total, **shares}

    def named(self, pattern: str) -> set[int]:
        """Return the functions of a name, ``Class.name`` or shell pattern."""
        exact = {n for n, f in enumerate(self.functions) if f.qualname == pattern}
        tail = f".{pattern}"
        return exact or {
            n
            for n, f in enumerate(self.functions)
            if f.qualname.endswith(tail) or fnmatchcase(f.qualname, pattern)
        }

    def near(self, name: str) -> list[str]:
        """Return the qualified names most like ``name``."""
        from difflib import get_close_matches

        last = name.rpartition(".")[2]
        same = sorted({f.qualname for f in self.functions if f.qualname.rpartition(".")[2] == last})
        return same[:3] or get_close_matches(name, {f.qualname for f in self.functions}, 3, 0.7)

    def records(self, chain: list[tuple[int, int, int, int]]) -> list[dict[str, str | int]]:
        """Return the edges of a chain with names and places."""
        return [
            {
                "caller": self.functions[source].qualname,
                "path": self.functions[source].path,
                "line": line,
                "callee": self.functions[target].qualname,
                "defined": f"{self.functions[target].path}:{self.functions[target].line}",
                "how": self.kinds[kind],
            }
            for source, line, target, kind in chain
        ]


def survey(
    tree: SourceTree,
    store: FactStore | None = None,
    jobs: int | None = None,
    other: subprocess.Popen[bytes] | None = None,
) -> Survey:
    """Return the survey of a tree, kept in ``store`` under the content of all its files.

    ``other`` is a process that calls ``help_survey`` of the tree with the same store.
    """
    if store is None:
        with collector_postponed():
            return survey_of(load_symbols(tree, jobs=jobs), jobs)
    key = whole_tree_key(tree, store, _KIND)
    held = store.load([key]).get(key)
    with collector_postponed():
        if held is not None:
            return msgspec.msgpack.decode(held, type=Survey)
        if other is None:
            found = survey_of(load_symbols(tree, store, jobs), jobs)
        else:
            found = _helped(Surveyor(load_symbols(tree, store, jobs=1)), store, key, other)
    store.save({key: msgspec.msgpack.encode(found)})
    return found


_KIND = "survey"
_SHARES_PER_JOB = 4
_LEAST_FUNCTIONS = 2000
"""Fewer are not worth a process."""


def survey_of(symbols: Symbols, jobs: int | None = None) -> Survey:
    """Return the survey of loaded symbols; ``jobs`` processes where the platform can fork."""
    surveyor = Surveyor(symbols)
    jobs = jobs or cores()
    if jobs == 1 or not hasattr(os, "fork") or len(surveyor.functions) < _LEAST_FUNCTIONS:
        return _whole(surveyor, [surveyor.share(0, 1)])
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork")
    _shared.append(_Shared(surveyor, jobs * _SHARES_PER_JOB, context.Value("i", 0)))
    try:
        # this process does its part: with one process less, less of the symbols is copied
        with ProcessPoolExecutor(jobs - 1, mp_context=context, initializer=end_with_parent) as pool:
            others = [pool.submit(_untaken_shares) for _ in range(jobs - 1)]
            own = _untaken_shares()
            return _whole(surveyor, [*own, *(part for one in others for part in one.result())])
    finally:
        _shared.pop()


class _Shared(NamedTuple):
    """A survey of which several processes take shares; ``taken`` counts them in shared memory."""

    surveyor: Surveyor
    shares: int
    taken: Any


_shared: list[_Shared] = []
"""What forked workers inherit: pickling the symbols would cost more than the work."""


def _untaken_shares() -> list[Part]:
    surveyor, shares, taken = _shared[-1]
    parts: list[Part] = []
    while True:
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= shares:
            return parts
        parts.append(surveyor.share(number, shares))


def _whole(surveyor: Surveyor, parts: Iterable[Part]) -> Survey:
    counts: Counter[str] = Counter()
    named: list[tuple[int, int, int, str]] = []
    for edges, count in parts:
        named.extend(edges)
        counts.update(count)
    kinds = sorted({kind for *_, kind in named})
    order = {kind: number for number, kind in enumerate(kinds)}
    return Survey(
        [Place(f.module.path, f.scope.line, f.qualname) for f in surveyor.functions],
        kinds,
        sorted({(source, line, target, order[kind]) for source, line, target, kind in named}),
        dict(sorted(counts.items())),
    )


# -- two processes that do not know each other's pace ----------------------------------------------

_SHARES = 20


def _helped(surveyor: Surveyor, store: FactStore, key: bytes, other: subprocess.Popen[bytes]) -> Survey:
    """Return the survey, of which another process takes shares from the last to the first.

    Each takes those that nobody has taken. What the other leaves undone is done here, and also what a process
    took that was killed: its claim stays.
    """
    _take_shares(surveyor, store, key, range(_SHARES))
    other.wait()
    keys = [_share_key(key, number) for number in range(_SHARES)]
    done = store.load(keys)
    found = _whole(
        surveyor,
        (
            msgspec.msgpack.decode(done[one], type=Part) if done.get(one) else surveyor.share(n, _SHARES)
            for n, one in enumerate(keys)
        ),
    )
    store.save(dict.fromkeys(keys, b""))
    return found


def help_survey(tree: SourceTree, store: FactStore, symbols: Callable[[], Symbols]) -> None:
    """Do shares of the survey of a tree that another process makes by ``survey``."""
    key = whole_tree_key(tree, store, _KIND)
    if not store.load([key]):
        _take_shares(Surveyor(symbols()), store, key, reversed(range(_SHARES)))


def _take_shares(surveyor: Surveyor, store: FactStore, key: bytes, numbers: Iterable[int]) -> None:
    for number in numbers:
        one = _share_key(key, number)
        if store.claim(one):
            store.save({one: msgspec.msgpack.encode(surveyor.share(number, _SHARES))})


def _share_key(key: bytes, number: int) -> bytes:
    return hashlib.blake2b(key + bytes([number]), digest_size=20).digest()


def chains(graph: Survey, starts: set[int], ends: set[int]) -> list[tuple[int, int, int, int]] | None:
    """Return the cheapest chain of edges from any start to any end, None where there is none.

    Guessed edges cost more, so a longer chain of sure calls is preferred to a short guess.
    """
    import heapq

    following: dict[int, list[tuple[int, int, int, int]]] = {}
    for edge in graph.edges:
        following.setdefault(edge[0], []).append(edge)
    weight = [{"override": 1.8, "unique name": 2.5}.get(kind, 1.0) for kind in graph.kinds]
    best: dict[int, float] = dict.fromkeys(starts, 0.0)
    came: dict[int, tuple[int, int, int, int]] = {}
    queue = [(0.0, start) for start in sorted(starts)]
    while queue:
        cost, node = heapq.heappop(queue)
        if node in ends and node not in starts:
            return list(_backwards(came, node, starts))[::-1]
        if cost > best[node]:
            continue
        for edge in following.get(node, ()):
            reached = cost + weight[edge[3]]
            if reached < best.get(edge[2], 1e9):
                best[edge[2]], came[edge[2]] = reached, edge
                heapq.heappush(queue, (reached, edge[2]))
    return None


def entries(graph: Survey, ends: set[int]) -> list[int]:
    """Return the functions from which an end is reached and which no followed call leads to, nearest first:
    there the chains begin, or a call that only a configuration decides goes in."""
    callers: dict[int, list[int]] = {}
    for edge in graph.edges:
        callers.setdefault(edge[2], []).append(edge[0])
    seen, front, found = set(ends), sorted(ends), []
    while front:
        found += [node for node in front if node not in callers and node not in ends]
        front = sorted({one for node in front for one in callers.get(node, ())} - seen)
        seen.update(front)
    return found


def _backwards(
    came: dict[int, tuple[int, int, int, int]], node: int, starts: set[int]
) -> Iterator[tuple[int, int, int, int]]:
    while node not in starts:
        yield came[node]
        node = came[node][0]
