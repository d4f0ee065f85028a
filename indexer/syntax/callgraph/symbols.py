"""Modules, classes and functions of a tree, with imports and bases resolved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from indexer.syntax.callgraph.attribute_reads import Read
from indexer.syntax.callgraph.expressions import Expr, parse
from indexer.syntax.callgraph.facts import FileFacts, Import, Scope, Store
from indexer.syntax.module import module_name
from indexer.syntax.outline import absolute_module

PROPERTY_DECORATORS = ("property", "cached_property", "functools.cached_property")


class Module:
    """One file. ``names`` maps a module-level name to everything bound to it, in file order."""

    def __init__(self, name: str, path: str, facts: FileFacts) -> None:
        self.name = name
        self.path = path
        self.facts = facts
        self.is_package = path.endswith("/__init__.py")
        self.names: dict[str, list[Symbol]] = {}
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.annotations: dict[str, tuple[Any, ...]] = {}
        """What annotations of the module name, once asked for (``typenames.resolve``)."""
        self.attribute_reads: Callable[[], list[list[Read]]] = list
        """The attribute reads of each scope of the file; ``load`` says where they come from."""

    def __repr__(self) -> str:
        return f"Module({self.name})"

    def function_at(self, line: int) -> Function | None:
        """Return the innermost function around a line."""
        position = bisect_right(self.functions, line, key=lambda function: function.scope.line)
        for function in reversed(self.functions[:position]):
            if function.scope.end_line >= line:
                return function
        return None


class Class:
    """A class. ``mro`` and ``subclasses`` hold classes of the tree only."""

    def __init__(self, module: Module, scope: Scope, qualname: str) -> None:
        self.module = module
        self.scope = scope
        self.qualname = qualname
        self.id = f"{module.name}.{qualname}"
        self.methods: dict[str, list[Function]] = {}
        self.bases: list[Class] = []
        self.external_bases: list[str] = []
        self.subclasses: list[Class] = []

    def __repr__(self) -> str:
        return f"Class({self.id})"

    @cached_property
    def mro(self) -> tuple[Class, ...]:
        """The class and its bases, derived before base (left to right, first mention wins)."""
        found: list[Class] = []
        for base in self.bases:
            found.extend(c for c in base.mro if c is not self)
        unique: list[Class] = []
        for index, cls in enumerate(found):
            if cls not in found[index + 1 :]:
                unique.append(cls)
        return (self, *unique)

    @cached_property
    def descendants(self) -> tuple[Class, ...]:
        """All classes below this one, sorted by id."""
        found: dict[str, Class] = {}
        pending = list(self.subclasses)
        while pending:
            cls = pending.pop()
            if cls.id not in found:
                found[cls.id] = cls
                pending.extend(cls.subclasses)
        return tuple(found[key] for key in sorted(found))

    def is_below(self, other: Class) -> bool:
        """Whether this is ``other`` or derives from it."""
        return other in self.mro

    @cached_property
    def fields(self) -> dict[str, list[Store]]:
        """Class-level assignments and annotations by name."""
        found: dict[str, list[Store]] = {}
        for store in self.scope.stores:
            found.setdefault(store.target, []).append(store)
        return found

    @cached_property
    def attribute_stores(self) -> dict[str, list[tuple[Function, Store, tuple[int, ...]]]]:
        """``self.x = v`` in the class's own methods: attribute → (method, store, index into a tuple)."""
        found: dict[str, list[tuple[Function, Store, tuple[int, ...]]]] = {}
        for functions in self.methods.values():
            for method in functions:
                for function in method.with_nested():
                    own = method.self_name
                    if own is None:
                        continue
                    for store in function.scope.stores:
                        if own not in store.target:
                            continue
                        for target, index in flatten_target(parse(store.target)):
                            if target[0] == "attr" and target[1] == ("name", own):
                                found.setdefault(target[2], []).append((function, store, index))
        return found

    def find(self, name: str) -> list[Function]:
        """Return the method ``name`` as seen from this class (nearest in the MRO)."""
        for cls in self.mro:
            if name in cls.methods:
                return cls.methods[name]
        return []


class Function:
    """A function or method; ``outer`` is the enclosing function, ``cls`` the class it is a method of."""

    def __init__(
        self, module: Module, position: int, qualname: str, cls: Class | None, outer: Function | None
    ) -> None:
        scope = module.facts.scopes[position]
        self.module = module
        self.scope = scope
        self.position = position
        self.qualname = qualname
        self.cls = cls
        self.outer = outer
        self.nested: dict[str, Function] = {}
        self.id = f"{module.name}.{qualname}:{scope.line}"

    def __repr__(self) -> str:
        return f"Function({self.id})"

    @property
    def name(self) -> str:
        return self.scope.name

    @cached_property
    def is_static(self) -> bool:
        return "staticmethod" in self.scope.decorators

    @cached_property
    def is_classmethod(self) -> bool:
        return "classmethod" in self.scope.decorators or self.name == "__new__"

    @cached_property
    def is_property(self) -> bool:
        return any(d in PROPERTY_DECORATORS for d in self.scope.decorators)

    @cached_property
    def is_stub(self) -> bool:
        """Whether the body does nothing but stand for what a subclass provides."""
        return self.scope.stub or any("abstractmethod" in d for d in self.scope.decorators)

    @cached_property
    def self_name(self) -> str | None:
        """The name of the instance (or class) parameter of a method."""
        if self.cls is None or self.is_static or not self.scope.parameters:
            return None
        return self.scope.parameters[0].name

    @cached_property
    def annotations(self) -> dict[str, str]:
        """Parameter names with their annotations' text."""
        return {parameter.name: parameter.annotation for parameter in self.scope.parameters}

    def with_nested(self) -> Iterator[Function]:
        yield self
        for function in self.nested.values():
            yield from function.with_nested()

    @cached_property
    def local_stores(self) -> dict[str, list[tuple[Store, tuple[int, ...]]]]:
        """Stores to plain names in this scope: name → (store, index into a tuple)."""
        found: dict[str, list[tuple[Store, tuple[int, ...]]]] = {}
        for store in self.scope.stores:
            if store.target.isidentifier():
                found.setdefault(store.target, []).append((store, ()))
            elif "," in store.target:
                for target, index in flatten_target(parse(store.target)):
                    if target[0] == "name":
                        found.setdefault(target[1], []).append((store, index))
        return found

    @cached_property
    def dotted_stores(self) -> dict[str, list[Store]]:
        """Stores to attributes of something other than ``self``, by the target's text."""
        found: dict[str, list[Store]] = {}
        for store in self.scope.stores:
            if (
                "." in store.target
                and store.kind == "="
                and not store.target.startswith(f"{self.self_name}.")
            ):
                found.setdefault(store.target, []).append(store)
        return found

    @property
    def reads(self) -> list[Read]:
        """The attributes that the body names."""
        scopes = self.module.attribute_reads()
        return scopes[self.position] if scopes else []

    @cached_property
    def local_imports(self) -> dict[str, list[Import]]:
        found: dict[str, list[Import]] = {}
        for entry in self.scope.imports:
            found.setdefault(entry.local, []).append(entry)
        return found

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """The names that the function or one around it binds; any other is its module's."""
        outer = self.outer.bound_names if self.outer is not None else ()
        own = (one.name for one in self.scope.parameters)
        return frozenset((*own, *self.local_stores, *self.local_imports, *self.nested, *outer))

    @cached_property
    def called_roots(self) -> frozenset[str]:
        """First names of the callees in the body: which parameters are worth carrying as context."""
        return frozenset(
            call.callee.split(".")[0].split("(")[0].split("[")[0]
            for function in self.with_nested()
            for call in function.scope.calls
        )


class Alias:
    """A module-level name bound by an import."""

    def __init__(self, module: Module, entry: Import) -> None:
        self.module = module
        self.entry = entry


class Value:
    """A module-level name bound by an assignment."""

    def __init__(self, module: Module, store: Store, index: tuple[int, ...]) -> None:
        self.module = module
        self.store = store
        self.index = index


Symbol = Function | Class | Alias | Value


def flatten_target(expr: Expr, index: tuple[int, ...] = ()) -> Iterator[tuple[Expr, tuple[int, ...]]]:
    """Yield the single targets of an assignment's left side with their tuple positions."""
    if expr[0] == "seq":
        for position, item in enumerate(expr[2]):
            yield from flatten_target(item, (*index, position))
    else:
        yield expr, index


class Symbols:
    """All modules of a tree. ``facts`` maps a repo-relative path to the file's facts."""

    def __init__(self, facts: Iterable[tuple[str, FileFacts]]) -> None:
        self.modules: dict[str, Module] = {}
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        self.functions_by_name: dict[str, list[Function]] = {}
        self.classes_by_name: dict[str, list[Class]] = {}
        for path, file_facts in facts:
            module = Module(module_name(path), path, file_facts)
            self.modules[module.name] = module
            self._declare(module)
        self._link_bases()

    def _declare(self, module: Module) -> None:
        made: list[Function | Class | None] = [None] * len(module.facts.scopes)
        for position, scope in enumerate(module.facts.scopes):
            if scope.kind == "module":
                continue
            parent = made[scope.parent] if scope.parent >= 0 else None
            prefix = f"{parent.qualname}." if parent is not None else ""
            if scope.kind == "class":
                cls = Class(module, scope, prefix + scope.name)
                made[position] = cls
                module.classes.append(cls)
                self.classes[cls.id] = cls
                self.classes_by_name.setdefault(scope.name, []).append(cls)
                if parent is None:
                    module.names.setdefault(scope.name, []).append(cls)
                continue
            owner = parent if isinstance(parent, Class) else None
            outer = parent if isinstance(parent, Function) else None
            function = Function(module, position, prefix + scope.name, owner, outer)
            made[position] = function
            module.functions.append(function)
            self.functions[function.id] = function
            self.functions_by_name.setdefault(scope.name, []).append(function)
            if owner is not None:
                self._add_method(owner, function)
            elif outer is not None:
                outer.nested[scope.name] = function
            else:
                module.names.setdefault(scope.name, []).append(function)
        root = module.facts.scopes[0]
        for entry in root.imports:
            module.names.setdefault(entry.local, []).append(Alias(module, entry))
        for store in root.stores:
            if store.kind == "=" and store.target.isidentifier():
                module.names.setdefault(store.target, []).append(Value(module, store, ()))
            elif store.kind == "=" and "," in store.target:
                for target, index in flatten_target(parse(store.target)):
                    if target[0] == "name":
                        module.names.setdefault(target[1], []).append(Value(module, store, index))

    @staticmethod
    def _add_method(owner: Class, function: Function) -> None:
        """Keep every unconditional redefinition apart from setters and overload stubs."""
        decorators = function.scope.decorators
        if any(d.endswith((".setter", ".deleter", "overload")) for d in decorators):
            return
        known = owner.methods.setdefault(function.name, [])
        if function.scope.guard == -1:
            known.clear()
        known.append(function)

    def _link_bases(self) -> None:
        for cls in self.classes.values():
            if not cls.scope.bases:
                continue
            for expr in base_expressions(cls.scope.bases):
                found = [
                    s for s in self.lookup_dotted(cls.module, expr) if isinstance(s, Class) and s is not cls
                ]
                if found:
                    cls.bases.append(found[0])
                    found[0].subclasses.append(cls)
                else:
                    cls.external_bases.append(dotted_text(expr))

    def lookup_dotted(self, module: Module, expr: Expr) -> list[Symbol | Module]:
        """Return what a dotted name at module level stands for (functions, classes, values, modules)."""
        if expr[0] == "name":
            return self.lookup(module, expr[1])
        if expr[0] == "attr":
            found: list[Symbol | Module] = []
            for base in self.lookup_dotted(module, expr[1]):
                if isinstance(base, Module):
                    found.extend(self.member(base, expr[2]))
                elif isinstance(base, Class):
                    inner = self.classes.get(f"{base.id}.{expr[2]}")
                    if inner is not None:
                        found.append(inner)
            return found
        if expr[0] == "sub":  # Generic[T]
            return self.lookup_dotted(module, expr[1])
        return []

    def lookup(self, module: Module, name: str, depth: int = 0) -> list[Symbol | Module]:
        """Return what ``name`` stands for at a module's top level, imports followed."""
        if depth > 12:
            return []
        found: list[Symbol | Module] = []
        for symbol in module.names.get(name, ()):
            if isinstance(symbol, Alias):
                found.extend(self.imported(module, symbol.entry, depth))
            else:
                found.append(symbol)
        if not found:
            for star in module.names.get("*", ()):
                if isinstance(star, Alias):
                    source = self.modules.get(absolute_name(module, star.entry.module))
                    if source is not None and source is not module:
                        found.extend(self.lookup(source, name, depth + 1))
        return found

    def imported(self, module: Module, entry: Import, depth: int = 0) -> list[Symbol | Module]:
        """Return what one imported name stands for; nothing when it is outside the tree."""
        dotted = absolute_name(module, entry.module)
        if not entry.name:
            target = self.modules.get(dotted)
            return [target] if target is not None else []
        source = self.modules.get(dotted)
        if source is None:  # outside the tree, or a folder without an __init__.py
            submodule = self.modules.get(f"{dotted}.{entry.name}")
            return [submodule] if submodule is not None else []
        return self.member(source, entry.name, depth)

    def member(self, source: Module, name: str, depth: int = 0) -> list[Symbol | Module]:
        """Return what ``source.name`` is: something the module binds, or a submodule."""
        found = self.lookup(source, name, depth + 1)
        if not found and (submodule := self.modules.get(f"{source.name}.{name}")) is not None:
            return [submodule]
        return found


def absolute_name(module: Module, dotted: str) -> str:
    """Return the absolute form of a possibly relative module name."""
    return absolute_module(dotted, module.name, module.is_package)


def base_expressions(text: str) -> list[Expr]:
    """Return the base classes in a class statement's argument list (keywords left out)."""
    from indexer.syntax.callgraph.expressions import arguments

    return [expr for keyword, expr in arguments(text) if keyword == ""]


def dotted_text(expr: Expr) -> str:
    """Return the source form of a dotted name."""
    if expr[0] == "attr":
        return f"{dotted_text(expr[1])}.{expr[2]}"
    if expr[0] == "sub":
        return dotted_text(expr[1])
    return str(expr[1]) if expr[0] == "name" else ""
