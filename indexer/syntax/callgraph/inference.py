"""Which functions and classes an expression may stand for, in the frame of a function.

Flow-insensitive: a name stands for everything stored to it, apart from stores whose guard is certainly
false. Where an annotation names a base and a store or return gives something below it, the concrete
class wins. A result that was cut at a cycle is not remembered, so the order of questions doesn't matter.
"""

from __future__ import annotations

from collections.abc import Callable as Function0
from collections.abc import Iterable
from functools import partial
from typing import Any, Protocol

from indexer.syntax.callgraph import typenames
from indexer.syntax.callgraph.expressions import Expr, arguments, parse
from indexer.syntax.callgraph.symbols import (
    Alias,
    Class,
    Function,
    Module,
    Symbol,
    Symbols,
    Value,
    dotted_text,
)
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
    ModuleObject,
    Parts,
    SelfContext,
    Super,
    Types,
    merge,
    with_evidence,
)

_CARRIED = (Callable, LambdaObject)
_CARRIED_OBJECTS = (*_CARRIED, Instance, ClassObject)
MAX_DEPTH = 80
_NEVER = 1 << 30
PASS_THROUGH = frozenset(
    {"cast", "partial", "deepcopy", "copy", "compile", "iter", "reversed", "sorted", "list"}
)


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


class Inference:
    """Answers ``types``, ``attribute``, ``returns`` and ``called`` over one tree."""

    def __init__(self, symbols: Symbols, selector: Selector | None = None) -> None:
        self.symbols = symbols
        self.selector: Selector = selector or NoSelector()
        self._done: dict[Any, Types] = {}
        self._provisional: dict[Any, tuple[Types, int]] = {}
        self._active: dict[Any, int] = {}
        self._low = _NEVER

    def _once(self, key: Any, compute: Function0[[], Types]) -> Types:
        """Compute a result once; one that met an unfinished question above is kept only below it."""
        done = self._done.get(key)
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
            self._done[key] = result
            # what was left unfinished meanwhile is all the newest, and none of it hangs on anything above
            while len(self._provisional) > kept:
                self._provisional.popitem()
            self._low = outer
        else:
            self._provisional[key] = (result, self._low)
            self._low = min(outer, self._low)
        return result

    # -- expressions ---------------------------------------------------------------------------

    def types(self, expr: Expr, frame: Frame) -> Types:
        """Return what the expression may stand for (things of the tree only)."""
        kind = expr[0]
        if kind == "name":
            return self.name(expr[1], frame)
        if kind == "attr":
            return self._attribute_here(expr, frame)
        if kind == "call":
            return self._call_types(expr, frame)
        if kind == "sub":
            return self._subscript(expr, frame)
        if kind in ("if", "bool"):
            found: Types = {}
            for part in expr[2:] if kind == "if" else expr[2]:
                merge(found, self.types(part, frame))
            return found
        if kind == "seq":
            return self._sequence(expr, frame)
        if kind == "dict":
            return self._elements((value for _, value in expr[1]), frame)
        if kind == "comp":
            return self._elements((expr[1],), frame)
        if kind == "lambda":
            return {LambdaObject(expr[1], expr[2], frame): CERTAIN}
        if kind == "await":
            return self.types(expr[1], frame)
        if kind == "op":
            found = dict(self.types(expr[2], frame))
            merge(found, self.types(expr[3], frame))
            return {atom: ev for atom, ev in found.items() if isinstance(atom, Elements)}
        return {}

    def _attribute_here(self, expr: Expr, frame: Frame) -> Types:
        """An attribute; what the same function stores to it is nearer than what its class declares."""
        function = frame.function
        if function is not None and function.dotted_stores:
            stored: Types = {}
            for store in function.dotted_stores.get(dotted_text(expr), ()):
                if store.value and not self.selector.impossible(frame.module, store.guard):
                    key = ("store", frame, store.line, store.target)
                    merge(stored, self._once(key, partial(self._stored, store, (), frame, "store")))
            if stored:
                return stored
        return self.attribute(self.types(expr[1], frame), expr[2], frame)

    def _elements(self, exprs: Iterable[Expr], frame: Frame) -> Types:
        inner: Types = {}
        for expr in exprs:
            merge(inner, self.types(expr, frame))
        return {Elements(tuple(inner)): next(iter(inner.values()))} if inner else {}

    def _sequence(self, expr: Expr, frame: Frame) -> Types:
        if expr[1] != "tuple":
            return self._elements(expr[2], frame)
        parts = tuple(tuple(self.types(item, frame)) for item in expr[2])
        return {Parts(parts): CERTAIN} if any(parts) else {}

    def _subscript(self, expr: Expr, frame: Frame) -> Types:
        index = expr[2][1] if expr[2][0] == "const" and isinstance(expr[2][1], int) else None
        found: Types = {}
        for atom, evidence in self.types(expr[1], frame).items():
            if isinstance(atom, Parts) and index is not None and -len(atom.parts) <= index < len(atom.parts):
                merge(found, dict.fromkeys(atom.parts[index], evidence))
            elif isinstance(atom, Parts | Elements):
                merge(found, dict.fromkeys(element_atoms(atom), evidence))
            elif isinstance(atom, Callable | ClassObject):
                found[atom] = evidence  # kernel[grid], Generic[T]
            elif isinstance(atom, Instance):
                for method in atom.cls.find("__getitem__"):
                    merge(found, self.returns(method, (atom.cls, atom.exact)))
        return found

    # -- names ---------------------------------------------------------------------------------

    def name(self, name: str, frame: Frame) -> Types:
        """Return what a name stands for: local store, parameter, enclosing function, import, module."""
        function = frame.function
        if function is None:
            return self.module_name(frame.module, name)
        key = ("name", name, frame)
        done = self._done.get(key)
        return done if done is not None else self._once(key, lambda: self._name(name, frame, function))

    def _name(self, name: str, frame: Frame, function: Function) -> Types:
        found: Types = {}
        method = function
        while method.cls is None and method.outer is not None:
            method = method.outer
        own = method.self_name
        if name == own and (function is method or name not in function.local_stores):
            return self._self_types(method, frame)
        if name == "super":
            return {}
        scope: Function | None = function
        while scope is not None:
            inner = frame if scope is function else frame._replace(function=scope, bound=())
            for store, index in scope.local_stores.get(name, ()):
                if not self.selector.impossible(frame.module, store.guard):
                    stored = self._stored(store, index, inner, "local")
                    merge(found, stored)
            for parameter in scope.scope.parameters:
                if parameter.name == name:
                    merge(found, self._parameter(scope, name, inner))
                    if not found:
                        return {}
            for entry in scope.local_imports.get(name, ()):
                if not self.selector.impossible(frame.module, entry.guard):
                    at = (frame.module.path, entry.line)
                    for symbol in self.symbols.imported(frame.module, entry):
                        merge(found, with_evidence(self._symbol_types(symbol), "import", at, None))
            if name in scope.nested:
                found.setdefault(
                    Callable(scope.nested[name], frame.context), Evidence("nested", (frame.module.path, 0))
                )
            if found or name in scope.local_stores or name in scope.local_imports:
                return found
            scope = scope.outer
        return self.module_name(frame.module, name)

    def _self_types(self, method: Function, frame: Frame) -> Types:
        cls = method.cls
        if cls is None:
            return {}
        context = frame.context
        parameter = method.scope.parameters[0]
        if parameter.annotation and (context is None or not context[0].is_below(cls)):
            for atom in typenames.resolve(self.symbols, method.module, parameter.annotation):
                if isinstance(atom, Instance):
                    context = (atom.cls, False)
        if context is None:
            context = (cls, False)
        if parameter.annotation and not context[1]:
            for atom in typenames.resolve(self.symbols, method.module, parameter.annotation):
                if isinstance(atom, Instance) and not context[0].is_below(atom.cls):
                    context = (atom.cls, False)
        made = ClassObject if method.is_classmethod else Instance
        return {made(*context): Evidence("self")}

    def _parameter(self, function: Function, name: str, frame: Frame) -> Types:
        for bound_name, atoms in frame.bound:
            if bound_name == name:
                return dict.fromkeys(atoms, Evidence("argument"))
        parameter = next(p for p in function.scope.parameters if p.name == name)
        at = (function.module.path, function.scope.line)
        found: Types = {}
        if function.name == "__init__" and frame.context is not None and function.cls is not None:
            merge(found, self._from_super_init(function, name, frame.context))
        declared = typenames.resolve(self.symbols, function.module, parameter.annotation)
        if parameter.default and not found:
            default = self.types(parse(parameter.default), Frame(function.module, None, None))
            merge(found, with_evidence(default, "default", at, None))
        found = prefer_concrete(found, declared) or dict.fromkeys(declared, Evidence("annotation", at))
        selected = self.selector.parameter(name, found, frame)
        return found if selected is None else selected

    def _from_super_init(self, function: Function, name: str, context: SelfContext) -> Types:
        """Return what subclasses of the MRO pass for ``name`` through ``super().__init__(…)``."""
        found: Types = {}
        for cls in context[0].mro:
            if cls is function.cls:
                break
            for init in cls.methods.get("__init__", ()):
                for call in init.scope.calls:
                    if call.callee not in ("super().__init__", f"super({cls.scope.name}, self).__init__"):
                        continue
                    remaining = context[0].mro[context[0].mro.index(cls) + 1 :]
                    reached = next((f for c in remaining for f in c.methods.get("__init__", ())), None)
                    if reached is not function:
                        continue
                    for parameter, expr in match_arguments(function, arguments(call.arguments), True):
                        if parameter == name:
                            types = self.types(expr, Frame(init.module, init, context))
                            merge(
                                found, with_evidence(types, "argument", (init.module.path, call.line), None)
                            )
        return found

    def module_name(self, module: Module, name: str) -> Types:
        """Return what a module-level name stands for."""
        if name not in module.names and "*" not in module.names:
            return {}
        return self._once(("module", module.name, name), lambda: self._module_name(module, name))

    def _module_name(self, module: Module, name: str) -> Types:
        found: Types = {}
        for symbol in module.names.get(name, ()):
            if isinstance(symbol, Alias):
                if not self.selector.impossible(module, symbol.entry.guard):
                    at = (module.path, symbol.entry.line)
                    for target in self.symbols.imported(module, symbol.entry):
                        merge(found, with_evidence(self._symbol_types(target), "import", at, None))
            elif (isinstance(symbol, Value) and self.selector.impossible(module, symbol.store.guard)) or (
                isinstance(symbol, Function | Class) and self.selector.impossible(module, symbol.scope.guard)
            ):
                continue
            else:
                merge(found, self._symbol_types(symbol))
        if not found:
            for target in self.symbols.lookup(module, name):
                if "*" in module.names and name not in module.names:
                    merge(found, with_evidence(self._symbol_types(target), "import", None, None))
        return found

    def _symbol_types(self, symbol: Symbol | Module) -> Types:
        if isinstance(symbol, Function):
            return {Callable(symbol, None): CERTAIN}
        if isinstance(symbol, Class):
            return {ClassObject(symbol, True): CERTAIN}
        if isinstance(symbol, Module):
            return {ModuleObject(symbol): CERTAIN}
        if isinstance(symbol, Value):
            frame = Frame(symbol.module, None, None)
            return self._once(
                ("value", symbol.module.name, symbol.store.line, symbol.store.target, symbol.index),
                lambda: self._stored(symbol.store, symbol.index, frame, "module"),
            )
        return {}

    def _stored(self, store: Any, index: tuple[int, ...], frame: Frame, how: str) -> Types:
        """Return the types of a store's value at a tuple position, or of its annotation."""
        found: Types = {}
        guard = (frame.module.path, store.guard) if store.guard >= 0 else None
        at = (frame.module.path, store.line)
        if store.value and store.value != "...":
            value = self.types(parse(store.value), frame)
            if store.kind == "for":
                value = {a: ev for atom, ev in value.items() for a in element_atoms(atom)}
                value = self._iterated(store.value, value, frame, index)
            elif store.kind == "with":
                value = self._entered(value)
            found = pick(value, index) if store.kind != "for" else value
        if store.annotation:
            declared = typenames.resolve(self.symbols, frame.module, store.annotation)
            found = prefer_concrete(found, declared)
            if not found:
                found = dict.fromkeys(declared, Evidence("annotation", at, guard))
        return with_evidence(found, how, at, guard)

    def _iterated(self, text: str, value: Types, frame: Frame, index: tuple[int, ...]) -> Types:
        """Undo ``enumerate``, ``zip`` and ``.items()`` around what a loop runs over."""
        expr = parse(text)
        if expr[0] == "call" and expr[1] == ("name", "enumerate") and expr[2] and index:
            inner = self.types(expr[2][0][1], frame)
            return {} if index[0] == 0 else {a: ev for x, ev in inner.items() for a in element_atoms(x)}
        if expr[0] == "call" and expr[1] == ("name", "zip") and index and index[0] < len(expr[2]):
            inner = self.types(expr[2][index[0]][1], frame)
            return {a: ev for x, ev in inner.items() for a in element_atoms(x)}
        if expr[0] == "call" and expr[1][0] == "attr" and expr[1][2] in ("items", "values"):
            inner = self.types(expr[1][1], frame)
            if expr[1][2] == "items" and index and index[0] == 0:
                return {}
            return {a: ev for x, ev in inner.items() for a in element_atoms(x)}
        return pick(value, index)

    def _entered(self, value: Types) -> Types:
        """Return what ``with value as x`` binds: the result of ``__enter__``, else the value itself."""
        found: Types = {}
        for atom, evidence in value.items():
            entered: Types = {}
            if isinstance(atom, Instance):
                for method in atom.cls.find("__enter__"):
                    entered = self.returns(method, (atom.cls, atom.exact))
            merge(found, entered or {atom: evidence})
        return found

    # -- attributes ----------------------------------------------------------------------------

    def attribute(self, bases: Types, name: str, frame: Frame | None = None) -> Types:
        """Return what ``base.name`` stands for, over all bases."""
        found: Types = {}
        owner: Class | None = None
        for atom in bases:
            if isinstance(atom, Instance | ClassObject):
                owner = owner or atom.cls
                merge(found, self.member(atom.cls, atom.exact, name))
            elif isinstance(atom, Super):
                for method in after(atom.owner, atom.context[0], name):
                    found[Callable(method, atom.context)] = Evidence("super")
            elif isinstance(atom, ModuleObject):
                merge(found, self._module_member(atom.module, name))
            elif isinstance(atom, Elements) and name in ("values", "items", "pop", "get", "popleft"):
                merge(
                    found, {Elements((atom,)) if name in ("values", "items") else atom: Evidence("element")}
                )
        selected = self.selector.attribute(owner, name, found, frame)
        return found if selected is None else selected

    def _module_member(self, module: Module, name: str) -> Types:
        found = self.module_name(module, name)
        if not found:
            submodule = self.symbols.modules.get(f"{module.name}.{name}")
            if submodule is not None:
                return {ModuleObject(submodule): CERTAIN}
        return found

    def member(self, cls: Class, exact: bool, name: str) -> Types:
        """Return what an object of ``cls`` has under ``name``: method, property result, stored value."""
        return self._once(("member", cls.id, exact, name), lambda: self._member(cls, exact, name))

    def _member(self, cls: Class, exact: bool, name: str) -> Types:
        context = (cls, exact)
        methods = [m for m in cls.find(name) if not self.selector.impossible(m.module, m.scope.guard)]
        found: Types = {}
        if methods:
            if not exact and all(m.is_stub for m in methods):
                found = self._overrides(cls, name)
            for method in methods if not found else ():
                merge(found, self._as_member(method, context, "method"))
            return found
        declared: Types = {}
        for owner in cls.mro:
            for store in owner.fields.get(name, ()):
                if self.selector.impossible(owner.module, store.guard):
                    continue
                merge(declared, self._stored(store, (), Frame(owner.module, None, None), "field"))
            for function, store, index in owner.attribute_stores.get(name, ()):
                if self.selector.impossible(owner.module, store.guard):
                    continue
                frame = Frame(owner.module, function, context)
                merge(found, self._stored(store, index, frame, "attribute"))
        found = prefer_concrete(found, tuple(declared))
        if not found:
            found = declared
        if not found and not exact:
            found = self._overrides(cls, name)
            if not found:
                for below in cls.descendants[:40]:
                    if name in below.attribute_stores or name in below.fields:
                        merge(found, self.member(below, False, name))
        if not found and name not in ("__getattr__", "__class__"):
            for method in cls.find("__getattr__"):
                merge(found, self._delegated(method, context, name))
        return found

    def _delegated(self, method: Function, context: SelfContext, name: str) -> Types:
        """Follow a ``__getattr__`` that returns ``getattr(self.x, name)``."""
        found: Types = {}
        for entry in method.scope.returns:
            expr = parse(entry.value)
            if expr[0] == "call" and expr[1] == ("name", "getattr") and len(expr[2]) >= 2:
                base = self.types(expr[2][0][1], Frame(method.module, method, context))
                merge(found, self.attribute(base, name))
        return found

    def _as_member(self, method: Function, context: SelfContext, how: str) -> Types:
        if method.is_property:
            return with_evidence(
                self.returns(method, context), "property", (method.module.path, method.scope.line), None
            )
        bound = None if method.is_static else context
        return {Callable(method, bound): Evidence(how)}

    def _overrides(self, cls: Class, name: str) -> Types:
        real = [
            (below, method)
            for below in cls.descendants
            for method in below.methods.get(name, ())
            if not method.is_stub and not self.selector.impossible(below.module, method.scope.guard)
        ]
        how = "override" if len(real) > 1 else "method"  # a single implementation is no guess
        found: Types = {}
        for below, method in real:
            merge(found, self._as_member(method, (below, False), how))
        return found

    # -- calls ---------------------------------------------------------------------------------

    def _call_types(self, expr: Expr, frame: Frame) -> Types:
        callee, args = expr[1], expr[2]
        if callee == ("name", "super"):
            return self._super(frame)
        if callee == ("name", "getattr") and len(args) >= 2 and args[1][1][0] == "str":
            return self.attribute(self.types(args[0][1], frame), args[1][1][1], frame)
        if callee == ("name", "type") and len(args) == 1:
            inner = self.types(args[0][1], frame)
            return {ClassObject(a.cls, a.exact): ev for a, ev in inner.items() if isinstance(a, Instance)}
        if callee[0] in ("name", "attr") and callee[-1] == "cast" and len(args) == 2:
            text = args[0][1]
            if text[0] in ("name", "attr", "sub"):
                return dict.fromkeys(
                    typenames.from_expr(self.symbols, frame.module, text), Evidence("annotation")
                )
        targets = self.types(callee, frame)
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
                merge(inner, self.types(arg, frame))
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
        return self.types(atom.body, atom.frame)

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
            types = self.types(expr, frame)
            if not types:
                continue
            objects = (name in function.called_roots or function.name == "__init__") and not (
                typenames.resolve(self.symbols, function.module, annotations[name])
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
        found = self._once(key, lambda: self._returns(function, context, bound))
        selected = self.selector.result(function, found, caller)
        return found if selected is None else selected

    def _returns(
        self, function: Function, context: SelfContext | None, bound: tuple[tuple[str, tuple[Atom, ...]], ...]
    ) -> Types:
        frame = Frame(function.module, function, context, bound)
        found: Types = {}
        for entry in function.scope.returns:
            if not entry.value or self.selector.impossible(function.module, entry.guard):
                continue
            guard = (function.module.path, entry.guard) if entry.guard >= 0 else None
            at = (function.module.path, entry.line)
            returned = self.types(parse(entry.value), frame)
            if entry.value.isidentifier():
                narrowed = self._tested(function, entry.value, entry.guard)
                returned = {a: Evidence("return") for a in narrowed} if narrowed else returned
            merge(found, with_evidence(returned, "return", at, guard))
        declared = typenames.resolve(self.symbols, function.module, function.scope.returns_annotation)
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
                named = (typenames.from_expr(self.symbols, function.module, item) for item in items)
                return [atom for atoms in named for atom in atoms if isinstance(atom, Instance)]
            guard = guards[guard].parent
        return []


def element_atoms(atom: Atom) -> tuple[Atom, ...]:
    """Return what iterating over an atom gives."""
    if isinstance(atom, Elements):
        return atom.atoms
    if isinstance(atom, Parts):
        return tuple(dict.fromkeys(a for part in atom.parts for a in part))
    return ()


def pick(types: Types, index: tuple[int, ...]) -> Types:
    """Return the part of a value at a tuple position."""
    for position in index:
        found: Types = {}
        for atom, evidence in types.items():
            if isinstance(atom, Parts):
                if position < len(atom.parts):
                    merge(found, dict.fromkeys(atom.parts[position], evidence))
            elif isinstance(atom, Elements):
                merge(found, dict.fromkeys(atom.atoms, evidence))
        types = found
    return types


def prefer_concrete(found: Types, declared: Iterable[Atom]) -> Types:
    """Keep what fits the annotation, where anything does: the concrete class wins over the declared."""
    bases = [a.cls for a in declared if isinstance(a, Instance | ClassObject)]
    if not bases:
        return found
    fitting = {
        atom: ev
        for atom, ev in found.items()
        if not isinstance(atom, Instance | ClassObject) or any(atom.cls.is_below(base) for base in bases)
    }
    return fitting if any(isinstance(a, Instance | ClassObject) for a in fitting) else {}


def after(owner: Class, cls: Class, name: str) -> list[Function]:
    """Return the method that ``super().name`` in ``owner`` means for an object of ``cls``."""
    order = cls.mro
    start = order.index(owner) + 1 if owner in order else 0
    for candidate in order[start:]:
        if name in candidate.methods:
            return candidate.methods[name]
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
