"""The enum or registry of speculative algorithms: its members, and whether plugins can add more."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from indexer.extract.literal_sites import LiteralTracer
from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Function, Module
from indexer.syntax.nodes import keyword_arguments, node_of, positional_arguments
from indexer.syntax.parse import location, string_value, text

CLASS_NAME = "SpeculativeAlgorithm"
FOLDER = f"{PACKAGE_ROOT}/srt/speculative"
PARSER = "from_string"
NO_ALGORITHM = "NONE"


@dataclass
class Member:
    """One algorithm. ``marks`` and ``factory`` are what a registration call gives it (a registry only);
    ``aliases`` are the spellings named in that call."""

    name: str
    at: Location
    kind: str
    marks: frozenset[str] = frozenset()
    factory: Node | None = None
    aliases: dict[str, Location] = field(default_factory=dict)


@dataclass
class Registry:
    """The class that lists the algorithms. ``open_at`` is where plugins register their own."""

    definition: Definition
    module: Module
    node: Node
    members: dict[str, Member]
    open_at: Location | None = None

    @property
    def at(self) -> Location:
        return self.definition.location  # type: ignore[return-value]

    def method(self, name: str) -> Function | None:
        """Return a method of the class itself by name."""
        wanted = f"{self.definition.qualname}.{name}"
        return next((one for one in self.module.functions if one.qualname == wanted), None)


def find_registry(graph: ModuleGraph) -> Registry | None:
    """Return the tree's algorithm class, None where there is no speculation yet."""
    for path in graph.tree.walk(FOLDER):
        if CLASS_NAME.encode() not in graph.tree.read(path):
            continue
        module = graph.module(path)
        for definition in graph.definitions(module, CLASS_NAME) if module else []:
            node = node_of(graph, definition)
            if module is not None and node is not None and definition.kind == "class":
                return _read(graph, Registry(definition, module, node, {}))
    return None


def _read(graph: ModuleGraph, registry: Registry) -> Registry:
    if any(base.qualname.endswith("Enum") for base in graph.bases(registry.definition)):
        _enum_members(registry)
    _registered_members(graph, registry)
    registry.open_at = _open_at(registry)
    return registry


def _enum_members(registry: Registry) -> None:
    for record in registry.module.assignments:
        owner, _, name = record.qualname.rpartition(".")
        if owner == registry.definition.qualname and not name.startswith("_") and record.annotation is None:
            at = Location(registry.module.path, record.line, record.end_line, record.qualname)
            registry.members[name] = Member(name, at, "enum")


def _registered_members(graph: ModuleGraph, registry: Registry) -> None:
    """Read calls like ``register_algorithm("X", worker_cls=..., aliases=..., flags=...)`` at module level."""
    tracer = LiteralTracer(graph)
    for statement in graph.syntax(registry.module.path).root_node.named_children:
        call = statement.named_children[0] if statement.type == "expression_statement" else None
        callee = call.child_by_field_name("function") if call is not None and call.type == "call" else None
        if call is None or callee is None or not text(callee).rpartition(".")[2].startswith("register"):
            continue
        arguments, keywords = positional_arguments(call), keyword_arguments(call)
        name = string_value(arguments[0]) if arguments else None
        if name is None:
            continue
        marks = tracer.trace(keywords["flags"], registry.module).values if "flags" in keywords else {}
        aliases = tracer.trace(keywords["aliases"], registry.module).values if "aliases" in keywords else {}
        factory = keywords.get("worker_cls") or (arguments[1] if len(arguments) > 1 else None)
        registry.members[name.upper()] = Member(
            name.upper(),
            location(call, registry.module.path, name.upper()),
            "registry",
            frozenset(str(mark) for mark in marks),
            factory,
            {str(alias): at for alias, at in aliases.items()},
        )


def _open_at(registry: Registry) -> Location | None:
    """Return where plugins register an algorithm: a public ``register`` method or function."""
    path, prefix = registry.module.path, f"{registry.definition.qualname}."
    candidates = [
        one
        for one in registry.module.functions
        if one.qualname.removeprefix(prefix).startswith("register") and "worker" not in one.qualname
    ]
    # A free function is the documented door where there is one; else the class's own method.
    candidates.sort(key=lambda one: (one.in_class, one.line))
    if not candidates:
        return None
    return Location(path, candidates[0].line, candidates[0].end_line, candidates[0].qualname)
