"""Which functions and classes an expression may stand for, in the frame of a function.

Flow-insensitive: a name stands for everything stored to it, apart from stores whose guard is certainly
false. Where an annotation names a base and a store or return gives something below it, the concrete
class wins. A result that was cut at a cycle is not remembered, so the order of questions doesn't matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from indexer.syntax.callgraph import typenames
from indexer.syntax.callgraph.calls import Calls, match_arguments
from indexer.syntax.callgraph.expressions import Expr, arguments, parse
from indexer.syntax.callgraph.memo import Memo
from indexer.syntax.callgraph.selectors import NoSelector, Selector
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
    element_atoms,
    merge,
    pick,
    prefer_concrete,
    with_evidence,
)


class Inference:
    """Answers ``types`` and ``attribute`` over one tree; ``calls`` does what has to do with calls."""

    def __init__(self, symbols: Symbols, selector: Selector | None = None) -> None:
        self.symbols = symbols
        self.selector: Selector = selector or NoSelector()
        self.memo = Memo()
        self.calls = Calls(self, self.memo)

    # -- expressions ---------------------------------------------------------------------------

    def types(self, expr: Expr, frame: Frame) -> Types:
        """Return what the expression may stand for (things of the tree only)."""
        kind = expr[0]
        if kind == "name":
            return self.name(expr[1], frame)
        if kind == "attr":
            return self._attribute_here(expr, frame)
        if kind == "call":
            return self.calls.types(expr, frame)
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
                    merge(stored, self.memo.once(key, partial(self._stored, store, (), frame, "store")))
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
                    merge(found, self.calls.returns(method, (atom.cls, atom.exact)))
        return found

    # -- names ---------------------------------------------------------------------------------

    def name(self, name: str, frame: Frame) -> Types:
        """Return what a name stands for: local store, parameter, enclosing function, import, module."""
        function = frame.function
        if function is None or name not in function.bound_names:
            return self.module_name(frame.module, name)
        key = ("name", name, frame)
        done = self.memo.done.get(key)
        return done if done is not None else self.memo.once(key, lambda: self._name(name, frame, function))

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
            if name in scope.annotations:
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
        return self.memo.once(("module", module.name, name), lambda: self._module_name(module, name))

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
            return self.memo.once(
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
                    entered = self.calls.returns(method, (atom.cls, atom.exact))
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
        return self.memo.once(("member", cls.id, exact, name), lambda: self._member(cls, exact, name))

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
                self.calls.returns(method, context), "property", (method.module.path, method.scope.line), None
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


def after(owner: Class, cls: Class, name: str) -> list[Function]:
    """Return the method that ``super().name`` in ``owner`` means for an object of ``cls``."""
    order = cls.mro
    start = order.index(owner) + 1 if owner in order else 0
    for candidate in order[start:]:
        if name in candidate.methods:
            return candidate.methods[name]
    return []
