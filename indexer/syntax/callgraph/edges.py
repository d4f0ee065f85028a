"""The calls that leave a function: for each call site the functions it may reach, and why."""

from __future__ import annotations

from typing import NamedTuple

from indexer.syntax.callgraph.expressions import Expr, arguments, parse
from indexer.syntax.callgraph.facts import Call
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.symbols import Class, Function
from indexer.syntax.callgraph.values import (
    Atom,
    Callable,
    ClassObject,
    Evidence,
    Frame,
    Instance,
    LambdaObject,
    SelfContext,
    Types,
)

CERTAINTY = {
    "name": "certain",
    "module": "certain",
    "import": "certain",
    "nested": "certain",
    "self": "certain",
    "super": "certain",
    "method": "certain",
    "override": "guessed",
    "unique-name": "guessed",
}
"""How → certainty; what is missing here is ``typed``, bindings are ``selected`` or ``declared``."""

_LIST_METHODS = {"append", "add", "clear", "extend", "remove", "insert", "copy", "index", "count", "sort"}
_DICT_METHODS = {"get", "pop", "update", "items", "values", "keys", "set"}
_TASK_METHODS = {
    "put",
    "close",
    "run",
    "start",
    "join",
    "read",
    "write",
    "send",
    "recv",
    "wait",
    "reset",
    "step",
}
_TENSOR_METHODS = {"forward", "to", "size", "view", "reshape", "shape", "dtype", "device"}
_COMMON = frozenset(_LIST_METHODS | _DICT_METHODS | _TASK_METHODS | _TENSOR_METHODS)
"""Names so common outside the tree that being unique in it says nothing."""


class Node(NamedTuple):
    """A function for a class of ``self`` and known parameters."""

    function: Function
    context: SelfContext | None
    bound: tuple[tuple[str, tuple[Atom, ...]], ...] = ()

    @property
    def frame(self) -> Frame:
        return Frame(self.function.module, self.function, self.context, self.bound)

    @property
    def shown_class(self) -> Class | None:
        return self.context[0] if self.context else self.function.cls


class Edge(NamedTuple):
    """A call (or property read) in ``source`` at ``line`` that reaches ``target``.

    ``rivals`` is how many other functions the same call site may reach.
    """

    source: Node
    target: Node
    line: int
    end_line: int
    start_line: int
    kind: str
    how: str
    certainty: str
    guard: int
    witness: Evidence | None
    text: str
    arguments: str
    rivals: int = 0


class Edges:
    """Answers ``of(node)`` over one inference; results are kept."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.symbols = inference.symbols
        self._known: dict[Node, list[Edge]] = {}
        self._property_names = frozenset(
            f.name for f in self.symbols.functions.values() if f.is_property and f.cls is not None
        )

    def of(self, node: Node) -> list[Edge]:
        """Return the edges that leave a node, in order of their lines."""
        if node not in self._known:
            edges = [edge for call in node.function.scope.calls for edge in self._call_edges(node, call)]
            edges.extend(self._property_edges(node))
            for nested in node.function.nested.values():
                edges.append(self._nested_edge(node, nested))
            edges.sort(key=lambda e: (e.line, e.start_line, e.kind, e.target.function.id))
            self._known[node] = edges
        return self._known[node]

    def _nested_edge(self, node: Node, nested: Function) -> Edge:
        line = nested.scope.line
        target = Node(nested, node.context)
        return Edge(
            node,
            target,
            line,
            line,
            line,
            "nested",
            "nested",
            "certain",
            nested.scope.guard,
            None,
            nested.name,
            "",
        )

    def _call_edges(self, node: Node, call: Call) -> list[Edge]:
        expr = parse(call.callee)
        args = arguments(call.arguments)
        found: list[Edge] = []
        for atom, evidence, kind in self.targets(expr, node.frame):
            for function, context in self.functions(atom):
                bound = self.inference.calls.bind(function, args, node.frame, context is not None)
                how = evidence.how
                found.append(
                    Edge(
                        node,
                        Node(function, context, bound),
                        call.line,
                        call.end_line,
                        call.start_line,
                        self._kind(kind, atom, function),
                        how,
                        certainty_of(how),
                        call.guard,
                        evidence,
                        call.callee,
                        call.arguments,
                    )
                )
        if not found:
            return self._callbacks(node, call, args)
        rivals = len({edge.target.function for edge in found}) - 1
        return [edge._replace(rivals=rivals) for edge in found] if rivals else found

    def _kind(self, kind: str, atom: Atom, function: Function) -> str:
        if isinstance(atom, ClassObject):
            return "constructor"
        if isinstance(atom, Instance):
            return "module call"
        if kind == "launch" and any("jit" in d for d in function.scope.decorators):
            return "kernel launch"
        return "call"

    def _callbacks(self, node: Node, call: Call, args: tuple[tuple[str, Expr], ...]) -> list[Edge]:
        """Functions handed to something outside the tree, which may call them."""
        found = []
        for _, expr in args:
            if expr[0] not in ("name", "attr"):
                continue
            for atom, evidence in self.inference.types(expr, node.frame).items():
                if isinstance(atom, Callable):
                    target = Node(atom.function, atom.context)
                    found.append(
                        Edge(
                            node,
                            target,
                            call.line,
                            call.end_line,
                            call.start_line,
                            "callback",
                            "callback",
                            "typed",
                            call.guard,
                            evidence,
                            call.callee,
                            call.arguments,
                        )
                    )
        return found

    def targets(self, expr: Expr, frame: Frame) -> list[tuple[Atom, Evidence, str]]:
        """Return what a callee expression may stand for, with the evidence for its receiver."""
        kind = "call"
        if expr[0] == "sub":
            kind, inner = "launch", self.inference.types(expr[1], frame)
            if any(isinstance(a, Callable | ClassObject) for a in inner):
                return [(a, ev, kind) for a, ev in inner.items()]
            return [(a, ev, kind) for a, ev in self.inference.types(expr, frame).items()]
        if expr[0] != "attr":
            return [(a, ev, kind) for a, ev in self.inference.types(expr, frame).items()]
        bases = self.inference.types(expr[1], frame)
        found: dict[Atom, tuple[Atom, Evidence, str]] = {}
        for base, evidence in bases.items():
            for atom, own in self.inference.attribute({base: evidence}, expr[2], frame).items():
                stored = own.how in ("attribute", "field")  # a function that the object holds
                best = own if stored or isinstance(atom, Instance | ClassObject) else evidence
                if own.how in ("override", "super") or own.how.startswith(("binding:", "template:")):
                    best = own if own.at or own.how != "override" else Evidence("override", evidence.at)
                found.setdefault(atom, (atom, best, kind))
        if not bases:
            selected = self.inference.attribute({}, expr[2], frame)
            for atom, evidence in selected.items():
                found[atom] = (atom, evidence, kind)
        if not found:
            unique = self._unique(expr[2], bases)
            if unique is not None:
                context = (unique.cls, False) if unique.cls else None
                found[0] = (Callable(unique, context), Evidence("unique-name"), kind)
        return list(found.values())

    def _unique(self, name: str, bases: Types) -> Function | None:
        """Return the only method of that name in the tree, for a receiver of unknown class."""
        if name in _COMMON or any(isinstance(b, Instance | ClassObject) for b in bases):
            return None
        known = [
            f for f in self.symbols.functions_by_name.get(name, ()) if f.cls is not None and not f.is_stub
        ]
        return known[0] if len(known) == 1 else None

    def functions(self, atom: Atom) -> list[tuple[Function, SelfContext | None]]:
        """Return the functions that calling an atom runs."""
        if isinstance(atom, Callable):
            return [(atom.function, atom.context)]
        if isinstance(atom, ClassObject):
            context = (atom.cls, True)
            return [(f, context) for f in atom.cls.find("__init__") or atom.cls.find("__post_init__")]
        if isinstance(atom, Instance):
            for name in ("__call__", "forward"):
                methods = [m for m in atom.cls.find(name) if not m.is_stub]
                if methods:
                    return [(m, (atom.cls, atom.exact)) for m in methods]
        if isinstance(atom, LambdaObject) and atom.body[0] == "call":
            found = []
            for inner, _, _ in self.targets(atom.body[1], atom.frame):
                if not isinstance(inner, LambdaObject):
                    found.extend(self.functions(inner))
            return found
        return []

    def _property_edges(self, node: Node) -> list[Edge]:
        found: list[Edge] = []
        seen: set[tuple[str, int]] = set()
        for line, text, guard in node.function.reads:
            names = text.rsplit(".", 1)
            if len(names) != 2 or (names[1] not in self._property_names and not self._inner_property(text)):
                continue
            expr = parse(text)
            while expr[0] == "attr":
                if expr[2] in self._property_names and (expr, line) not in seen:
                    seen.add((expr, line))  # type: ignore[arg-type]
                    found.extend(self._property_targets(node, expr, line, guard))
                expr = expr[1]
        return found

    def _inner_property(self, text: str) -> bool:
        return any(part in self._property_names for part in text.split("."))

    def _property_targets(self, node: Node, expr: Expr, line: int, guard: int) -> list[Edge]:
        found: list[Edge] = []
        bases = self.inference.types(expr[1], node.frame)
        reached: list[tuple[Function, SelfContext, Evidence]] = []
        for base, evidence in bases.items():
            if isinstance(base, Instance):
                methods = [m for m in base.cls.find(expr[2]) if m.is_property]
                if methods and methods[0].is_stub and not base.exact:
                    below = [m for c in base.cls.descendants for m in c.methods.get(expr[2], ())]
                    reached.extend((m, (m.cls, False), Evidence("override")) for m in below if m.cls)
                else:
                    reached.extend((m, (base.cls, base.exact), evidence) for m in methods)
        if not bases:
            unique = self._unique(expr[2], bases)
            if unique is not None and unique.is_property and unique.cls is not None:
                reached.append((unique, (unique.cls, False), Evidence("unique-name")))
        for function, context, evidence in reached:
            how = evidence.how
            found.append(
                Edge(
                    node,
                    Node(function, context),
                    line,
                    line,
                    line,
                    "property",
                    how,
                    certainty_of(how),
                    guard,
                    evidence,
                    expr[2],
                    "",
                )
            )
        return found


def certainty_of(how: str) -> str:
    """Return the certainty that goes with a kind of inference."""
    if how.startswith("binding:"):
        return "selected"
    if how.startswith("template:"):
        return "declared"
    return CERTAINTY.get(how, "typed")
