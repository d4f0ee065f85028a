"""Every call site of a tree, resolved without the context of a caller: the figures and the ad-hoc graph.

Kinds, in the order in which a site counts: ``external`` (torch, the standard library, builtins),
``import or name``, ``self or class``, ``attribute type``, ``annotation``, ``return or argument``,
``override``, ``unique name`` (a guess), ``callback``; ``unknown receiver`` is a method that nothing in the
tree defines, ``unresolved`` is the rest.
"""

from __future__ import annotations

import builtins
import os
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

import msgspec

from indexer.collector import collector_postponed
from indexer.extractor_version import callgraph_version
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph import typenames
from indexer.syntax.callgraph.edges import Edges
from indexer.syntax.callgraph.expressions import Expr, parse
from indexer.syntax.callgraph.facts import Import
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.load import callgraph_paths, load_symbols
from indexer.syntax.callgraph.symbols import Function, Symbols, absolute_name
from indexer.syntax.callgraph.values import Frame
from indexer.syntax.factstore import FactStore
from indexer.workers import end_with_parent

_BUILTINS = frozenset(dir(builtins))
_KINDS = {
    "name": "import or name",
    "module": "import or name",
    "import": "import or name",
    "nested": "self or class",
    "self": "self or class",
    "super": "self or class",
    "method": "self or class",
    "local": "attribute type",
    "attribute": "attribute type",
    "field": "attribute type",
    "store": "attribute type",
    "annotation": "annotation",
    "override": "override",
    "unique-name": "unique name",
}


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


def survey(tree: SourceTree, store: FactStore | None = None, jobs: int | None = None) -> Survey:
    """Return the survey of a tree, kept in ``store`` under the content of all its files."""
    key = _key(tree, store) if store is not None else b""
    held = store.load([key]).get(key) if store is not None else None
    if held is not None:
        with collector_postponed():
            return msgspec.msgpack.decode(held, type=Survey)
    with collector_postponed():
        found = survey_of(load_symbols(tree, store, jobs), jobs)
    if store is not None:
        store.save({key: msgspec.msgpack.encode(found)})
    return found


def _key(tree: SourceTree, store: FactStore) -> bytes:
    import hashlib

    digest = hashlib.blake2b(f"survey\0{callgraph_version()}".encode(), digest_size=20)
    for path, blob in sorted(store.blob_hashes(tree, callgraph_paths(tree)).items()):
        digest.update(f"\0{path}\0{blob}".encode())
    return digest.digest()


_shared: list[_Surveyor] = []
"""What forked workers inherit: pickling the symbols would cost more than the work."""

_SHARES_PER_JOB = 4


def survey_of(symbols: Symbols, jobs: int | None = None) -> Survey:
    """Return the survey of loaded symbols; ``jobs`` processes where the platform can fork."""
    functions = [symbols.functions[key] for key in sorted(symbols.functions)]
    jobs = jobs or os.cpu_count() or 1
    _shared.append(_Surveyor(symbols, functions))
    try:
        parts = _parallel(len(functions), jobs) if jobs > 1 and hasattr(os, "fork") else [_part((0, 1))]
    finally:
        _shared.pop()
    counts: Counter[str] = Counter()
    named: list[tuple[int, int, int, str]] = []
    for edges, count in parts:
        named.extend(edges)
        counts.update(count)
    kinds = sorted({kind for *_, kind in named})
    order = {kind: number for number, kind in enumerate(kinds)}
    return Survey(
        [Place(f.module.path, f.scope.line, f.qualname) for f in functions],
        kinds,
        sorted({(source, line, target, order[kind]) for source, line, target, kind in named}),
        dict(sorted(counts.items())),
    )


_Part = tuple[list[tuple[int, int, int, str]], Counter[str]]


def _parallel(size: int, jobs: int) -> list[_Part]:
    if size < 2000:
        return [_part((0, 1))]
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=end_with_parent) as pool:
        shares = jobs * _SHARES_PER_JOB
        return list(pool.map(_part, [(number, shares) for number in range(shares)]))


def _part(share: tuple[int, int]) -> _Part:
    """Resolve the call sites of one share of the files; a process keeps what it learned for the next.

    The files of a share are neighbours, which ask the same questions, and the shares have as many call
    sites each.
    """
    number, shares = share
    surveyor = _shared[-1]
    calls = Counter[str]()
    for function in surveyor.functions:
        calls[function.module.name] += len(function.scope.calls)
    total, before = max(calls.total(), 1), 0
    mine = set()
    for name in sorted(calls):
        if before * shares // total == number:
            mine.add(name)
        before += calls[name]
    surveyor.edges, surveyor.counts = [], Counter()
    for function in surveyor.functions:
        if function.module.name in mine:
            surveyor.add(function)
    return surveyor.edges, surveyor.counts


_Answer = tuple[str, list[tuple[int, str]]]
"""The kind of a call site, and each function that it may reach with the kind of evidence."""

_EXTERNAL: _Answer = ("external", [])


class _Surveyor:
    def __init__(self, symbols: Symbols, functions: list[Function]) -> None:
        self.resolver = Edges(Inference(symbols))
        self.symbols = symbols
        self.functions = functions
        self.numbers = {function.id: number for number, function in enumerate(functions)}
        self.edges: list[tuple[int, int, int, str]] = []
        self.counts: Counter[str] = Counter()
        stored = {s.target.rpartition(".")[2] for f in symbols.functions.values() for s in f.scope.stores}
        fields = {s.target for c in symbols.classes.values() for s in c.scope.stores}
        self.known = stored | fields | set(symbols.functions_by_name) | set(symbols.classes_by_name)

    def add(self, function: Function) -> None:
        """Resolve and count all call sites of a function."""
        context = (function.cls, False) if function.cls is not None else None
        frame = Frame(function.module, function, context)
        source = self.numbers[function.id]
        answers: dict[str, _Answer] = {}
        outside: dict[str, bool] = {}
        for call in function.scope.calls:
            answer = answers.get(call.callee)
            if answer is None:
                root = call.callee.split(".", 1)[0].split("(", 1)[0].split("[", 1)[0]
                if root not in outside:
                    outside[root] = self._outside(function, root)
                answer = _EXTERNAL if outside[root] else self._answer(function, frame, call.callee)
                answers[call.callee] = answer
            self.counts[answer[0]] += 1
            for target, kind in answer[1]:
                self.edges.append((source, call.line, target, kind))

    def _answer(self, function: Function, frame: Frame, callee: str) -> _Answer:
        """Return the kind of a site whose callee starts inside the tree, and the functions it reaches."""
        last = callee.rsplit(".", 1)[-1]
        if "." in callee and last.isidentifier() and last not in self.known:
            foreign = self._foreign(function, parse(callee.rpartition(".")[0]), 0)
            return _EXTERNAL if foreign else ("unknown receiver", [])
        best = ""
        reached: list[tuple[int, str]] = []
        expr = parse(callee)
        for atom, evidence, _ in self.resolver.targets(expr, frame):
            kind = _KINDS.get(evidence.how, "return or argument")
            best = best or kind
            reached.extend((self.numbers[target.id], kind) for target, _ in self.resolver.functions(atom))
        if best:
            return best, reached
        if expr[0] == "attr" and self._foreign(function, expr[1], 0):
            return _EXTERNAL
        method = "." in callee and last not in self.symbols.functions_by_name
        return "unknown receiver" if method else "unresolved", []

    def _outside(self, function: Function, root: str) -> bool:
        """Whether a callee's first name is bound by an import from outside the tree, or a builtin."""
        scope: Function | None = function
        while scope is not None:
            if root in scope.local_imports:
                return all(not self._inside(function, entry) for entry in scope.local_imports[root])
            if root in scope.local_stores or any(p.name == root for p in scope.scope.parameters):
                return False
            scope = scope.outer
        bound = function.module.names.get(root)
        if bound is None:
            return root in _BUILTINS or not root.isidentifier()
        entries = [getattr(symbol, "entry", None) for symbol in bound]
        return all(entry is not None and not self._inside(function, entry) for entry in entries)

    def _foreign(self, function: Function, expr: Expr, depth: int) -> bool:
        """Whether a receiver is made by something outside the tree: a tensor, a string, a list."""
        kind = expr[0]
        if kind in ("str", "const", "dict", "seq", "comp", "cmp", "op"):
            return True
        if depth > 4:
            return False
        if kind in ("attr", "call", "sub", "await"):
            return self._foreign(function, expr[1], depth + 1)
        if kind == "if":
            return self._foreign(function, expr[2], depth + 1)
        if kind != "name":
            return False
        if self._outside(function, expr[1]):
            return True
        for parameter in function.scope.parameters:
            if parameter.name == expr[1] and parameter.annotation:
                return not typenames.resolve(self.symbols, function.module, parameter.annotation)
        stores = function.local_stores.get(expr[1], ())
        values = [store.value for store, _ in stores if store.value and store.value != "..."]
        return bool(values) and all(self._foreign(function, parse(value), depth + 1) for value in values)

    def _inside(self, function: Function, entry: Import) -> bool:
        dotted = absolute_name(function.module, entry.module)
        return dotted.split(".", 1)[0] == "sglang" or dotted in self.symbols.modules


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
