"""Who reads which launch argument: every place, with its function and the shape of the read."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from indexer.extract.file_facts import load_facts
from indexer.extract.reads.uses import CONFIG_PARAMETER, FLAG_USES, FlagUse, FlagUses
from indexer.knowledge.schema import Location, Read
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.facts import FileFacts
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Module

__all__ = ["FLAG_USES", "extract_reads"]

_RECORD_GETTER = re.compile(r"^get_(\w+_)?server_args$")
_RECORD_MODULE = f"{PACKAGE_ROOT}/srt/server_args.py"


def extract_reads(
    graph: ModuleGraph, fields: dict[str, str | None], facts: FileFacts | None = None
) -> dict[str, list[Read]]:
    """Return the reads of every launch argument, in path and line order.

    ``fields`` are the record's field names with their namespaces (None where the tree has none). A call
    of a method of the record counts as a read of each field the method reads itself (``through ...``).
    """
    facts = facts or load_facts(graph, (FLAG_USES,), elsewhere=())
    bags = _Bags(graph, fields)
    methods = _method_fields(facts, fields)
    found: dict[str, list[Read]] = {name: [] for name in fields}
    for path in sorted(facts):
        raw = facts[path].get(FLAG_USES.key)
        module = graph.module(path) if raw else None
        uses = msgspec.msgpack.decode(raw, type=FlagUses).uses if raw and module else []
        for use in _believed(uses, bags):
            for name, how in _fields_read(use, module, bags, methods):  # type: ignore[arg-type]
                found[name].append(Read(Location(path, _line(use, name), symbol=use.symbol), how))
    return found


def _line(use: FlagUse, name: str) -> int:
    """Return the line of the part of a chain that names the field."""
    parts = use.chain.split(".")[-len(use.lines) :]
    return use.lines[parts.index(name)] if name in parts else use.lines[0]


def _believed(uses: list[FlagUse], bags: _Bags) -> list[FlagUse]:
    """Drop reads through a parameter that is another configuration: it has what the record has not."""
    foreign = {
        use.symbol
        for use in uses
        if use.how == CONFIG_PARAMETER and use.chain.partition(".")[0] not in bags.fields
    }
    return [use for use in uses if use.how != CONFIG_PARAMETER or use.symbol not in foreign]


class _Bags:
    """Tells what a getter gives: the record, or the bag of a namespace."""

    def __init__(self, graph: ModuleGraph, fields: dict[str, str | None]) -> None:
        self.graph = graph
        self.fields = fields
        self.roots = {space.partition(".")[0] for space in fields.values() if space}
        self._known: dict[tuple[str, str], Definition | None] = {}

    def defined(self, module: Module, getter: str) -> Definition | None:
        """Return the function a getter's name means in a module."""
        key = (module.path, getter)
        if key not in self._known:
            self._known[key] = self.graph.resolve(module, getter) or self._imported_inside(module, getter)
        return self._known[key]

    def _imported_inside(self, module: Module, getter: str) -> Definition | None:
        for one in module.imports:
            if one.local == getter and one.scope:
                return self.graph.resolve(module, getter, one.scope)
        return None

    def field(self, use: FlagUse, module: Module) -> str | None:
        """Return the field that a chain behind a getter reads."""
        getter, parts = use.getter or "", use.chain.split(".")
        definition = self.defined(module, getter)
        name = definition.qualname if definition else getter
        if _RECORD_GETTER.match(name):
            return parts[0] if parts[0] in self.fields else None
        root = name.removeprefix("get_")
        if root not in self.roots or definition is None or not self._is_bag(definition):
            return None
        space = [root]
        for part in parts:
            if part in self.fields and self.fields[part] == ".".join(space):
                return part
            space.append(part)
        return None

    def _is_bag(self, definition: Definition) -> bool:
        """Tell the getters of namespaces from other functions of the same name: they live side by side."""
        module = self.graph.module(definition.module)
        names = {one.qualname for one in module.functions} if module else set()
        return sum(f"get_{root}" in names for root in self.roots) * 2 >= len(self.roots)


def _fields_read(
    use: FlagUse, module: Module, bags: _Bags, methods: dict[str, set[str]]
) -> Iterable[tuple[str, str]]:
    first = use.chain.partition(".")[0]
    if use.getter is not None:
        name = bags.field(use, module)
        if name is not None:
            by_name = " by name" if use.how.endswith(" by name") else ""
            # A name that only stands in what a local was bound to has been read there.
            if name in use.chain.split(".")[-len(use.lines) :]:
                yield name, f"{use.getter}(){by_name}"
            return
        definition = bags.defined(module, use.getter)
        if not _RECORD_GETTER.match(definition.qualname if definition else use.getter):
            return
    elif first in bags.fields:
        yield first, use.how
        return
    for name in sorted(methods.get(first, ())) if use.how != "self" else ():
        yield name, f"through {first}()"


def _method_fields(facts: FileFacts, fields: dict[str, str | None]) -> dict[str, set[str]]:
    """Return which fields each method of the record reads itself."""
    raw = facts.get(_RECORD_MODULE, {}).get(FLAG_USES.key)
    methods: dict[str, set[str]] = {}
    for use in msgspec.msgpack.decode(raw, type=FlagUses).uses if raw else ():
        owner, _, name = (use.symbol or "").rpartition(".")
        if use.how == "self" and owner == "ServerArgs" and use.chain in fields and not name.startswith("_"):
            methods.setdefault(name, set()).add(use.chain)
    return methods
