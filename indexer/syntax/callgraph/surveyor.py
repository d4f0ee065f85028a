"""One call site after the other, resolved without the context of a caller; ``survey`` says what for."""

from __future__ import annotations

import builtins
from collections import Counter

from indexer.syntax.callgraph import typenames
from indexer.syntax.callgraph.edges import Edges
from indexer.syntax.callgraph.expressions import Expr, parse
from indexer.syntax.callgraph.facts import Import
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.symbols import Function, Symbols, absolute_name
from indexer.syntax.callgraph.values import Frame

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

Part = tuple[list[tuple[int, int, int, str]], dict[str, int]]
"""Edges as (caller, line, callee, kind of evidence), callers and callees by number, and sites by kind."""

_Answer = tuple[str, list[tuple[int, str]]]
"""The kind of a call site, and each function that it may reach with the kind of evidence."""

_EXTERNAL: _Answer = ("external", [])


class Surveyor:
    """Resolves call sites, and keeps what it learned of the tree for the next ones."""

    def __init__(self, symbols: Symbols) -> None:
        functions = [symbols.functions[key] for key in sorted(symbols.functions)]
        self.resolver = Edges(Inference(symbols))
        self.symbols = symbols
        self.functions = functions
        self.numbers = {function.id: number for number, function in enumerate(functions)}
        self.edges: list[tuple[int, int, int, str]] = []
        self.counts: dict[str, int] = {}
        stored = {s.target.rpartition(".")[2] for f in symbols.functions.values() for s in f.scope.stores}
        fields = {s.target for c in symbols.classes.values() for s in c.scope.stores}
        self.known = stored | fields | set(symbols.functions_by_name) | set(symbols.classes_by_name)

    def share(self, number: int, shares: int) -> Part:
        """Resolve the call sites of one of ``shares`` shares of the files.

        The files of a share are neighbours, which ask the same questions, and the shares have as many call
        sites each.
        """
        calls = Counter[str]()
        for function in self.functions:
            calls[function.module.name] += len(function.scope.calls)
        total, before = max(calls.total(), 1), 0
        mine = set()
        for name in sorted(calls):
            if before * shares // total == number:
                mine.add(name)
            before += calls[name]
        self.edges, self.counts = [], {}
        for function in self.functions:
            if function.module.name in mine:
                self.add(function)
        return self.edges, self.counts

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
            self.counts[answer[0]] = self.counts.get(answer[0], 0) + 1
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
