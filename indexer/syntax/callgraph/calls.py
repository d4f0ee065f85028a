"""What calls give: the types of their results, what functions return, and what parameters are bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.syntax.callgraph import typenames
from indexer.syntax.callgraph.expressions import Expr, parse
from indexer.syntax.callgraph.memo import Memo
from indexer.syntax.callgraph.symbols import Function
from indexer.syntax.callgraph.values import (
    CERTAIN,
    Atom,
    Callable,
    ClassObject,
    Elements,
    Evidence,
    Frame,
    Instance,
    LambdaObject,
    Parts,
    SelfContext,
    Super,
    Types,
    merge,
    prefer_concrete,
    with_evidence,
)

if TYPE_CHECKING:
    from indexer.syntax.callgraph.inference import Inference

_CARRIED = (Callable, LambdaObject)
_CARRIED_OBJECTS = (*_CARRIED, Instance, ClassObject)
PASS_THROUGH = frozenset(
    {"cast", "partial", "deepcopy", "copy", "compile", "iter", "reversed", "sorted", "list"}
)


class Calls:
    """The half of inference that follows calls; ``inference`` answers what their parts stand for."""

    def __init__(self, inference: Inference, memo: Memo) -> None:
        self.inference = inference
        self.memo = memo

    def types(self, expr: Expr, frame: Frame) -> Types:
        callee, args = expr[1], expr[2]
        if callee == ("name", "super"):
            return self._super(frame)
        if callee == ("name", "getattr") and len(args) >= 2 and args[1][1][0] == "str":
            return self.inference.attribute(self.inference.types(args[0][1], frame), args[1][1][1], frame)
        if callee == ("name", "type") and len(args) == 1:
            inner = self.inference.types(args[0][1], frame)
            return {ClassObject(a.cls, a.exact): ev for a, ev in inner.items() if isinstance(a, Instance)}
        if callee[0] in ("name", "attr") and callee[-1] == "cast" and len(args) == 2:
            text = args[0][1]
            if text[0] in ("name", "attr", "sub"):
                return dict.fromkeys(
                    typenames.from_expr(self.inference.symbols, frame.module, text), Evidence("annotation")
                )
        targets = self.inference.types(callee, frame)
        if not targets:
            return self._opaque(callee, args, frame)
        return self.called(targets, args, frame)

    def _super(self, frame: Frame) -> Types:
        function = frame.function
        while function is not None and function.cls is None:
            function = function.outer
        if function is None or function.cls is None:
            return {}
        context = frame.context
        if context is None or not context[0].is_below(function.cls):
            context = (function.cls, False)
        return {Super(function.cls, context): CERTAIN}

    def _opaque(self, callee: Expr, args: tuple[tuple[str, Expr], ...], frame: Frame) -> Types:
        """A call of something outside the tree: what its function arguments return may come back."""
        last = callee[2] if callee[0] == "attr" else callee[1] if callee[0] == "name" else ""
        inner: Types = {}
        for _, arg in args:
            if arg[0] in ("name", "attr", "lambda", "seq", "comp", "dict", "call", "op", "if"):
                merge(inner, self.inference.types(arg, frame))
        found: Types = {}
        for atom, evidence in inner.items():
            if isinstance(atom, LambdaObject):
                returned = self._lambda(atom, ())
                if returned:
                    found.setdefault(Elements(tuple(returned)), Evidence("returned"))
            elif (
                isinstance(atom, Elements | Parts)
                or (isinstance(atom, Callable | ClassObject) and last not in ("isinstance", "print", "len"))
                or last in PASS_THROUGH
            ):
                found.setdefault(atom, evidence)
        return found

    def called(self, targets: Types, args: tuple[tuple[str, Expr], ...], frame: Frame) -> Types:
        """Return what calling the targets gives."""
        found: Types = {}
        for atom, evidence in targets.items():
            if isinstance(atom, ClassObject):
                found.setdefault(Instance(atom.cls, atom.exact), evidence)
            elif isinstance(atom, Callable):
                bound = self.bind(atom.function, args, frame, atom.context is not None)
                returned = self.returns(atom.function, atom.context, bound, frame)
                merge(found, self._with_made(atom.function, returned, bound))
            elif isinstance(atom, LambdaObject):
                merge(found, self._lambda(atom, args))
            elif isinstance(atom, Instance):
                for method in atom.cls.find("__call__") or atom.cls.find("forward"):
                    merge(found, self.returns(method, (atom.cls, atom.exact)))
            elif isinstance(atom, Elements):
                found.setdefault(atom, evidence)
        return found

    def _with_made(
        self, callee: Function, returned: Types, bound: tuple[tuple[str, tuple[Atom, ...]], ...]
    ) -> Types:
        """Add what a function handed to the callee makes to the containers that the callee returns.

        ``make_layers(n, get_layer)`` returns a list of what ``get_layer`` returns, however it is built.
        """
        made: Types = {}
        for name, atoms in bound:
            for atom in atoms if name in callee.called_roots else ():
                if isinstance(atom, Callable):
                    merge(made, self.returns(atom.function, atom.context))
                elif isinstance(atom, LambdaObject):
                    merge(made, self._lambda(atom, ()))
        if not made:
            return returned
        if not returned:
            return {Elements(tuple(made)): Evidence("returned")}
        found: Types = {}
        for atom, evidence in returned.items():
            if isinstance(atom, Elements):
                atom = Elements(tuple(dict.fromkeys((*made, *atom.atoms))))
            elif isinstance(atom, Parts):
                atom = Parts(
                    tuple(
                        tuple(
                            Elements(tuple(dict.fromkeys((*made, *a.atoms))))
                            if isinstance(a, Elements)
                            else a
                            for a in part
                        )
                        for part in atom.parts
                    )
                )
            found[atom] = evidence
        return found

    def _lambda(self, atom: LambdaObject, args: tuple[tuple[str, Expr], ...]) -> Types:
        return self.inference.types(atom.body, atom.frame)

    def bind(
        self, function: Function, args: tuple[tuple[str, Expr], ...], frame: Frame, method: bool
    ) -> tuple[tuple[str, tuple[Atom, ...]], ...]:
        """Return the argument context: functions handed over, and objects for parameters the callee calls.

        An object is carried only where the parameter's own annotation names no class of the tree:
        otherwise every caller would make a node of its own.
        """
        bound: list[tuple[str, tuple[Atom, ...]]] = []
        annotations = function.annotations
        for name, expr in match_arguments(function, args, method):
            if name not in annotations or expr[0] in ("const", "str", "cmp", "other"):
                continue
            types = self.inference.types(expr, frame)
            if not types:
                continue
            objects = (name in function.called_roots or function.name == "__init__") and not (
                typenames.resolve(self.inference.symbols, function.module, annotations[name])
            )
            carried = _CARRIED_OBJECTS if objects else _CARRIED
            atoms = tuple(atom for atom in types if isinstance(atom, carried))
            if 0 < len(atoms) <= 3:
                bound.append((name, atoms))
        return tuple(bound)

    def returns(
        self,
        function: Function,
        context: SelfContext | None,
        bound: tuple[tuple[str, tuple[Atom, ...]], ...] = (),
        caller: Frame | None = None,
    ) -> Types:
        """Return what a function returns for a class of ``self`` and known parameters."""
        key = ("returns", function.id, context, bound)
        found = self.memo.once(key, lambda: self._returns(function, context, bound))
        selected = self.inference.selector.result(function, found, caller)
        return found if selected is None else selected

    def _returns(
        self, function: Function, context: SelfContext | None, bound: tuple[tuple[str, tuple[Atom, ...]], ...]
    ) -> Types:
        frame = Frame(function.module, function, context, bound)
        found: Types = {}
        for entry in function.scope.returns:
            if not entry.value or self.inference.selector.impossible(function.module, entry.guard):
                continue
            guard = (function.module.path, entry.guard) if entry.guard >= 0 else None
            at = (function.module.path, entry.line)
            returned = self.inference.types(parse(entry.value), frame)
            if entry.value.isidentifier():
                narrowed = self._tested(function, entry.value, entry.guard)
                returned = {a: Evidence("return") for a in narrowed} if narrowed else returned
            merge(found, with_evidence(returned, "return", at, guard))
        declared = typenames.resolve(
            self.inference.symbols, function.module, function.scope.returns_annotation
        )
        found = prefer_concrete(found, declared)
        if not found:
            at = (function.module.path, function.scope.line)
            found = dict.fromkeys(declared, Evidence("annotation", at))
        return found

    def _tested(self, function: Function, name: str, guard: int) -> list[Atom]:
        """Return the classes that ``isinstance(name, …)`` around a place says a name has."""
        guards = function.module.facts.guards
        while guard >= 0:
            expr = parse(guards[guard].text)
            tests = expr[0] == "call" and expr[1] == ("name", "isinstance") and len(expr[2]) == 2
            if guards[guard].holds and tests and expr[2][0][1] == ("name", name):
                tested = expr[2][1][1]
                items = tested[2] if tested[0] == "seq" else (tested,)
                named = (typenames.from_expr(self.inference.symbols, function.module, item) for item in items)
                return [atom for atoms in named for atom in atoms if isinstance(atom, Instance)]
            guard = guards[guard].parent
        return []


def match_arguments(
    function: Function, args: tuple[tuple[str, Expr], ...], method: bool
) -> list[tuple[str, Expr]]:
    """Pair a call's arguments with the callee's parameter names."""
    names = list(function.annotations)
    if method and function.cls is not None and not function.is_static:
        names = names[1:]
    paired: list[tuple[str, Expr]] = []
    position = 0
    for keyword, expr in args:
        if keyword == "":
            if position < len(names) and not names[position].startswith("*"):
                paired.append((names[position], expr))
            position += 1
        elif keyword not in ("*", "**"):
            paired.append((keyword, expr))
        else:
            position = len(names)
    return paired
