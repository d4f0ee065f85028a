"""The module graph of a tree: which definition a name in a module means.

Modules are indexed when they are first asked for; ``load_all`` indexes the whole tree at once, in
parallel and through the user's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
from tree_sitter import Node, Tree

from indexer.collector import collector_postponed
from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT, SourceTree
from indexer.syntax.facts import Extractor, collect
from indexer.syntax.factstore import FactStore
from indexer.syntax.module import Assignment, Class, Function, Import, Module, module_name
from indexer.syntax.outline import index_module, outline_nodes
from indexer.syntax.parse import line, parse


def _outline(path: str, source: bytes, tree: Tree) -> Module:
    return index_module(path, source, tree)


OUTLINE = Extractor("outline", _outline, Module)

_DEEPEST_IMPORT_CHAIN = 20


@dataclass(frozen=True)
class Definition:
    """What a name means. ``kind`` is class, function, assignment, module, or external.

    External means outside the tree: ``module`` is then the imported package's dotted name and
    ``path`` and ``record`` are None.
    """

    kind: str
    module: str
    qualname: str
    path: str | None = None
    record: Class | Function | Assignment | None = None

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.qualname}" if self.qualname else self.module

    @property
    def location(self) -> Location | None:
        """Where it is defined (the ``class``/``def`` line); None for what is outside the tree."""
        if self.path is None:
            return None
        if self.record is None:
            return Location(self.path, 1)
        return Location(self.path, self.record.line, self.record.end_line, self.qualname)


class ModuleGraph:
    """All modules of a tree, and name resolution over them."""

    def __init__(self, tree: SourceTree, store: FactStore | None = None) -> None:
        self.tree = tree
        self.store = store
        self._modules: dict[str, Module] = {}
        self._encoded: dict[str, bytes] = {}
        self._syntax: dict[str, Tree] = {}
        self._outline_nodes: dict[str, dict[int, list[Node]]] = {}
        self._names: dict[str, dict[str, list[Class | Function | Assignment | Import]]] = {}

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {module_name(path): path for path in self.tree.paths()}

    def load_all(
        self, prefix: str = PACKAGE_ROOT, extractors: Iterable[Extractor] = (), jobs: int | None = None
    ) -> dict[str, dict[str, bytes]]:
        """Index every file below ``prefix``; return the encoded facts of ``extractors`` by path."""
        facts = collect(self.tree, self.tree.walk(prefix), (OUTLINE, *extractors), self.store, jobs)
        for path, found in facts.items():
            self._encoded[path] = found.pop(OUTLINE.key)
        return facts

    def modules(self, prefix: str = PACKAGE_ROOT) -> Iterator[Module]:
        """Yield the modules below ``prefix``, in path order."""
        paths = list(self.tree.walk(prefix))
        if any(path not in self._modules and path not in self._encoded for path in paths):
            self.load_all(prefix)
        with collector_postponed():  # decoding makes many objects and no cycles
            for path in paths:
                self._decode(path)
        return (self._modules[path] for path in paths)

    def _decode(self, path: str) -> Module:
        module = self._modules.get(path)
        if module is None:
            raw = self._encoded.pop(path, None)
            if raw is None:
                module = index_module(path, self.tree.read(path), self.syntax(path))
            else:
                module = msgspec.msgpack.decode(raw, type=Module)
            self._modules[path] = module
        return module

    def module(self, name: str) -> Module | None:
        """Return a module by dotted name or repo-relative path, None where the tree has none."""
        path = name if name.endswith(".py") else self._by_name.get(name)
        return self._decode(path) if path is not None and path in self.tree else None

    def syntax(self, path: str) -> Tree:
        """Return the syntax tree of a file, parsed once."""
        if path not in self._syntax:
            self._syntax[path] = parse(self.tree.read(path))
        return self._syntax[path]

    def outline_nodes(self, path: str) -> dict[int, list[Node]]:
        """Return the nodes of a file's imports, definitions and assignments by their first line."""
        if path not in self._outline_nodes:
            by_line: dict[int, list[Node]] = {}
            for node, _ in outline_nodes(self.syntax(path).root_node, self.tree.read(path)):
                by_line.setdefault(line(node), []).append(node)
            self._outline_nodes[path] = by_line
        return self._outline_nodes[path]

    # -- names ---------------------------------------------------------------------------------

    def _table(self, module: Module) -> dict[str, list[Class | Function | Assignment | Import]]:
        """Everything a module binds, by qualified name; imports under ``scope.local``."""
        table = self._names.get(module.path)
        if table is None:
            table = self._names[module.path] = {}
            records: list[Class | Function | Assignment] = [*module.classes, *module.functions]
            for record in (*records, *module.assignments):
                table.setdefault(record.qualname, []).append(record)
            for one in module.imports:
                table.setdefault(f"{one.scope}.{one.local}" if one.scope else one.local, []).append(one)
        return table

    def definitions(self, module: Module, qualname: str) -> list[Definition]:
        """Return every class, function or assignment of exactly this qualified name in a module."""
        return [
            _define(module, record)
            for record in self._table(module).get(qualname, [])
            if not isinstance(record, Import)
        ]

    def resolve_all(self, module: Module, name: str, scope: str = "") -> list[Definition]:
        """Return every definition a dotted name may mean at a place in a module.

        ``scope`` is the qualified name of the function or class around the place. Several results
        mean the name is bound more than once (``try``/``if`` around imports), in source order.
        Names bound only by parameters or locals give nothing.
        """
        first, _, rest = name.partition(".")
        found = self._lookup(module, first, scope, 0)
        return self._members(found, rest) if rest else found

    def resolve(self, module: Module, name: str, scope: str = "", follow: bool = True) -> Definition | None:
        """Return the definition a dotted name means, preferring one inside the tree.

        With ``follow``, a name assigned from another name (``X = other.Y``) is followed.
        """
        found = self.resolve_all(module, name, scope)
        best = next((one for one in found if one.kind != "external"), found[0] if found else None)
        return self.followed(best) if follow and best else best

    def followed(self, definition: Definition) -> Definition:
        """Return what an alias assignment stands for; anything else as it is."""
        for _ in range(_DEEPEST_IMPORT_CHAIN):
            record = definition.record
            if not isinstance(record, Assignment) or record.augmented or not _is_dotted(record.value):
                return definition
            module = self.module(definition.module)
            scope = definition.qualname.rpartition(".")[0]
            target = self.resolve(module, record.value, scope, follow=False) if module else None  # type: ignore[arg-type]
            if target is None or target == definition:
                return definition
            definition = target
        return definition

    def resolve_dotted(self, dotted: str, follow: bool = True) -> Definition | None:
        """Return the definition of an absolute dotted name (``sglang.srt.x.Class.method``)."""
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            module = self.module(".".join(parts[:size]))
            if module is None:
                continue
            if size == len(parts):
                return Definition("module", module.name, "", module.path)
            return self.resolve(module, ".".join(parts[size:]), follow=follow)
        return None

    def _lookup(self, module: Module, name: str, scope: str, depth: int) -> list[Definition]:
        if depth > _DEEPEST_IMPORT_CHAIN:
            return []
        table = self._table(module)
        while True:
            records = table.get(f"{scope}.{name}" if scope else name)
            # Names of a class body are not seen from its methods: only what functions bind counts
            # on the way out, and the class body itself only where the place is directly in it.
            if records:
                return [one for record in records for one in self._bound(module, record, depth)]
            if not scope:
                return self._starred(module, name, depth)
            scope = scope.rpartition(".")[0]

    def _bound(
        self, module: Module, record: Class | Function | Assignment | Import, depth: int
    ) -> list[Definition]:
        if not isinstance(record, Import):
            return [_define(module, record)]
        if record.name is None:
            return [self._module_definition(record.module)]
        return self._exported(record.module, record.name, depth + 1)

    def _module_definition(self, name: str) -> Definition:
        module = self.module(name)
        if module is None:
            return Definition("external", name, "")
        return Definition("module", module.name, "", module.path)

    def _exported(self, module_name: str, name: str, depth: int) -> list[Definition]:
        module = self.module(module_name)
        if module is not None:
            found = self._lookup(module, name, "", depth)
            if found:
                return found
        if self.module(f"{module_name}.{name}") is not None:
            return [self._module_definition(f"{module_name}.{name}")]
        if module is not None:
            return []
        return [Definition("external", module_name, name)]

    def _starred(self, module: Module, name: str, depth: int) -> list[Definition]:
        if name.startswith("_") or depth > _DEEPEST_IMPORT_CHAIN:
            return []
        for star in self._table(module).get("*", []):
            if isinstance(star, Import) and (source := self.module(star.module)) is not None:
                found = self._lookup(source, name, "", depth + 1)
                if found:
                    return found
        return []

    def _members(self, found: list[Definition], rest: str) -> list[Definition]:
        for part in rest.split("."):
            found = [member for one in found for member in self._member(one, part)]
        return found

    def _member(self, owner: Definition, name: str) -> list[Definition]:
        if owner.kind == "external":
            qualname = f"{owner.qualname}.{name}" if owner.qualname else name
            return [Definition("external", owner.module, qualname)]
        if owner.kind == "module":
            return self._exported(owner.module, name, 1)
        owner = self.followed(owner)
        if owner.kind == "class" and (module := self.module(owner.module)) is not None:
            own = self.definitions(module, f"{owner.qualname}.{name}")
            if own:
                return own
            for base in self.bases(owner):
                inherited = self._member(base, name) if base.kind == "class" else []
                if inherited:
                    return inherited
        return []

    # -- classes -------------------------------------------------------------------------------

    def bases(self, definition: Definition) -> list[Definition]:
        """Return the base classes of a class as written, those outside the tree as external."""
        module = self.module(definition.module)
        if module is None or not isinstance(definition.record, Class):
            return []
        scope = definition.qualname.rpartition(".")[0]
        result = []
        for written in definition.record.bases:
            name = written.partition("[")[0].strip()
            base = self.resolve(module, name, scope) if _is_dotted(name) else None
            if base is not None and base != definition:
                result.append(base)
            else:
                result.append(Definition("external", "", name))
        return result

    def mro(self, definition: Definition) -> list[Definition]:
        """Return the class and its bases in Python's method resolution order."""
        return self._mro(definition, ())

    def _mro(self, definition: Definition, above: tuple[str, ...]) -> list[Definition]:
        if definition.dotted in above:
            return []
        bases = self.bases(definition)
        lines = [self._mro(base, (*above, definition.dotted)) for base in bases] + [bases]
        return [definition, *_merge(lines)]

    def method(self, definition: Definition, name: str) -> Definition | None:
        """Return the method or class attribute a class has under ``name``, inherited ones too."""
        for owner in self.mro(definition):
            module = self.module(owner.module) if owner.kind == "class" else None
            found = self.definitions(module, f"{owner.qualname}.{name}") if module else []
            if found:
                return found[-1]
        return None

    @cached_property
    def _children(self) -> dict[str, list[Definition]]:
        children: dict[str, list[Definition]] = {}
        for module in self.modules():
            for record in module.classes:
                one = Definition("class", module.name, record.qualname, module.path, record)
                for base in self.bases(one):
                    children.setdefault(base.dotted.lstrip("."), []).append(one)
        return children

    def subclasses(self, dotted: str) -> list[Definition]:
        """Return all classes below a class, in the whole tree (indexes it at first use)."""
        seen: dict[str, Definition] = {}
        queue = [dotted]
        while queue:
            for child in self._children.get(queue.pop(), []):
                if child.dotted not in seen:
                    seen[child.dotted] = child
                    queue.append(child.dotted)
        return list(seen.values())


def _define(module: Module, record: Class | Function | Assignment) -> Definition:
    kind = {Class: "class", Function: "function", Assignment: "assignment"}[type(record)]
    return Definition(kind, module.name, record.qualname, module.path, record)


def _is_dotted(value: str | None) -> bool:
    return bool(value) and all(part.isidentifier() for part in value.split("."))  # type: ignore[union-attr]


def _merge(lines: list[list[Definition]]) -> list[Definition]:
    """Join resolution orders as Python does (C3); an inconsistent hierarchy keeps the first order."""
    result: list[Definition] = []
    lines = [list(one) for one in lines if one]
    while lines:
        for order in lines:
            head = order[0]
            if not any(head in other[1:] for other in lines):
                break
        else:
            head = lines[0][0]
        result.append(head)
        lines = [rest for order in lines if (rest := [one for one in order if one != head])]
    return result
