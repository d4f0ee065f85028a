"""All functions of a tree by name, and which functions a call can reach."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from indexer.extract.rules.facts import CallSite, Function, RuleFacts
from indexer.extract.rules.files import EXTRACTOR, FunctionFinder
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.facts import collect
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import Definition, ModuleGraph

Key = tuple[str, str]
"""A function: (path, qualified name)."""

_MOST_CANDIDATES = 3
_CONSTRUCTORS = ("__init__", "__post_init__")


class Program:
    """Functions with their rule facts, read when first asked for, and call resolution over them."""

    def __init__(self, graph: ModuleGraph, store: FactStore | None = None) -> None:
        self.graph = graph
        self.tree = graph.tree
        self._store = store if store is not None else graph.store
        self._files: dict[str, dict[str, list[Function]]] = {}
        self._single: dict[Key, list[Function]] = {}
        self._finders: dict[str, FunctionFinder] = {}
        self._methods: dict[str, list[Key]] = {}

    def load(self, paths: Iterable[str], jobs: int | None = None) -> None:
        """Read the facts of several files at once, in parallel and through the cache."""
        wanted = [path for path in paths if path not in self._files and path in self.tree]
        for path, found in collect(self.tree, wanted, (EXTRACTOR,), self._store, jobs).items():
            facts = msgspec.msgpack.decode(found[EXTRACTOR.key], type=RuleFacts)
            table = self._files[path] = {}
            for function in facts.functions:
                table.setdefault(function.name, []).append(function)
                owner, _, name = function.name.rpartition(".")
                if owner:
                    self._methods.setdefault(name, []).append((path, function.name))

    def loaded(self) -> Iterable[tuple[str, dict[str, list[Function]]]]:
        """Return the files read so far, in path order."""
        return sorted(self._files.items())

    def at(self, key: Key) -> list[Function]:
        """Return the functions under a key. Of a file that is not loaded only they are read."""
        path, name = key
        if path in self._files:
            return self._files[path].get(name, [])
        if key not in self._single:
            self._single[key] = self._finder(path).read(name) if path in self.tree else []
        return self._single[key]

    def _finder(self, path: str) -> FunctionFinder:
        if path not in self._finders:
            self._finders[path] = FunctionFinder(self.graph.syntax(path), self.graph.tree.read(path))
        return self._finders[path]

    def methods(self, path: str, owner: str) -> list[Function]:
        """Return the methods of a class of a loaded file."""
        prefix = f"{owner}."
        table = self._files.get(path, {})
        return [one for name, versions in table.items() if name.startswith(prefix) for one in versions]

    def owner(self, key: Key) -> Definition | None:
        """Return the class whose method the function is."""
        path, name = key
        module = self.graph.module(path)
        owner = name.rpartition(".")[0]
        while module is not None and owner:
            for one in self.graph.definitions(module, owner):
                if one.kind == "class":
                    return one
            owner = owner.rpartition(".")[0]
        return None

    # -- calls -----------------------------------------------------------------------------------

    def targets(self, key: Key, function: Function, call: CallSite) -> list[Key]:
        """Return the functions of this tree that a call may reach; empty for what is outside it."""
        return self._named(key, function, call.callee, by_method=True)

    def function_value(self, key: Key, function: Function, text: str) -> list[Key]:
        """Return the functions that a name passed as an argument stands for."""
        if not all(part.isidentifier() for part in text.split(".")):
            return []
        return self._named(key, function, text, by_method="." in text, construct=False)

    def _named(
        self, key: Key, function: Function, callee: str, by_method: bool, construct: bool = True
    ) -> list[Key]:
        root, _, rest = callee.partition(".")
        if root in ("self", "cls", "super()") and rest:
            owner = self.owner(key)
            if owner is not None and "." not in rest:
                found = self._method(owner, rest, inherited=root == "super()")
                if found:
                    return found
            return self._by_name(callee) if by_method else []
        module = self.graph.module(key[0])
        if module is None:
            return []
        if all(part.isidentifier() for part in callee.split(".")):
            found = [
                one
                for definition in self.graph.resolve_all(module, callee, key[1])
                for one in self._keys(self.graph.followed(definition), construct)
            ]
            if found:
                return list(dict.fromkeys(found))
        if rest and "." not in rest and (typed := self._typed(key, function, root, rest)):
            return typed
        return self._by_name(callee) if by_method and rest else []

    def _keys(self, definition: Definition, construct: bool) -> list[Key]:
        if definition.path is None:
            return []
        if definition.kind == "function":
            return [(definition.path, definition.qualname)]
        if definition.kind == "class" and construct:
            return [key for name in _CONSTRUCTORS for key in self._method(definition, name)]
        return []

    def _method(self, owner: Definition, name: str, inherited: bool = False) -> list[Key]:
        owners = self.graph.bases(owner) if inherited else [owner]
        for one in owners:
            found = self.graph.method(one, name) if one.kind == "class" else None
            if found is not None and found.kind == "function" and found.path is not None:
                return [(found.path, found.qualname)]
        return []

    def _typed(self, key: Key, function: Function, root: str, method: str) -> list[Key]:
        """Resolve ``x.method`` by the annotation of ``x`` or by the class it was made from."""
        module = self.graph.module(key[0])
        written = [function.annotations.get(root, "").strip("\"'").removeprefix("Optional[").rstrip("]")]
        for definition in function.definitions.get(root, ()):
            written.extend(call for call in definition.expr.calls[:1])
        for name in written:
            if module is None or not name or not all(part.isidentifier() for part in name.split(".")):
                continue
            for candidate in (name, name.rpartition(".")[0]):
                found = self.graph.resolve(module, candidate, key[1]) if candidate else None
                if found is not None and found.kind == "class" and (keys := self._method(found, method)):
                    return keys
        return []

    def _by_name(self, callee: str) -> list[Key]:
        """Resolve a method by its name alone, where few classes of the files read so far have it."""
        name = callee.rpartition(".")[2]
        found = self._methods.get(name, [])
        plain = [key for key in dict.fromkeys(found) if self.owner(key) is not None]
        return plain if 0 < len(plain) <= _MOST_CANDIDATES and len(name) > 6 else []

    # -- registries ------------------------------------------------------------------------------

    def registered(self) -> list[tuple[Key, Function, frozenset[str]]]:
        """Return decorated functions with the registries (module names) their decorators fill."""
        result = []
        for path, functions in self.loaded():
            if not path.startswith(PACKAGE_ROOT):
                continue
            for name, versions in functions.items():
                for function in versions:
                    filled = self._fills((path, name), function)
                    if filled:
                        result.append(((path, name), function, frozenset(filled)))
        return result

    def _fills(self, key: Key, function: Function) -> set[str]:
        filled: set[str] = set()
        module = self.graph.module(key[0])
        for decorator in function.decorators:
            callee = decorator.calls[0] if decorator.calls else decorator.text
            if module is None or not all(part.isidentifier() for part in callee.split(".")):
                continue
            definition = self.graph.resolve(module, callee)
            if definition is None or definition.kind != "function" or definition.path is None:
                continue
            filled |= self.globals_of((definition.path, definition.qualname))
        return filled

    def globals_of(self, key: Key, depth: int = 2) -> set[str]:
        """Return the upper-case module names that a function, its inner functions and callees use."""
        found: set[str] = set()
        path, name = key
        inner = [one for one in self._files.get(path, ()) if one.startswith(f"{name}.")]
        for one in (name, *inner):
            for function in self.at((path, one)):
                found.update(function.globals)
                for call in function.calls if depth > 1 else ():
                    for target in self.function_value(key, function, call.callee.removesuffix("()")):
                        found |= self.globals_of(target, depth - 1)
        return found
