"""Where a tree declares its flags: every registration and every annotated field, with lines.

Nothing is evaluated here. The layouts are told apart by what the tree looks like: calls of
``add_argument`` (all trees have some), fields ``x: A[type, Arg(...)] = default`` in the record class,
and namespace classes (they carry ``_NS_PATH``) that the record is assembled from.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from indexer.errors import CannotError
from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax import queries
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Assignment, Module
from indexer.syntax.nodes import (
    annotation_parts,
    keyword_arguments,
    node_of,
    positional_arguments,
)
from indexer.syntax.parse import location, string_value, text

ARGUMENTS_MODULE = f"{PACKAGE_ROOT}/srt/server_args.py"
RECORD_CLASS = "ServerArgs"
REGISTRAR = "add_cli_args"
NAMESPACE_MARK = "_NS_PATH"


@dataclass(frozen=True)
class Argument:
    """A keyword as written: its source text, place, and the node for following it."""

    text: str
    at: Location
    node: Node = field(repr=False, compare=False)


@dataclass(frozen=True)
class FlagCall:
    """One ``add_argument`` call. ``option_strings`` is empty for a call whose names are computed
    (the loop that registers annotated fields); ``dest`` is what argparse would make of it."""

    option_strings: tuple[str, ...]
    dest: str | None
    at: Location
    module: Module
    keywords: dict[str, Argument]

    @property
    def deprecated(self) -> bool:
        """Whether the call's action or help says that the flag is deprecated."""
        action, help_text = self.keywords.get("action"), self.keywords.get("help")
        return bool(
            (action and "Deprecated" in action.text) or (help_text and "deprecated" in help_text.text.lower())
        )

    @property
    def replacement(self) -> str | None:
        """The flag that replaces a deprecated one, as its ``new_flag`` names it."""
        new_flag = self.keywords.get("new_flag")
        return string_value(new_flag.node) if new_flag else None


@dataclass(frozen=True)
class FieldSite:
    """One declared field. ``kind`` is annotated (metadata in the annotation), plain, or derived.

    ``metadata`` holds the keywords of its ``Arg(...)``; a bare help string stands under ``help``.
    ``flag`` says whether the annotation by itself makes a flag.
    """

    name: str
    kind: str
    at: Location
    class_name: str
    module: Module
    annotation: str | None
    default: str | None
    namespace: str | None = None
    metadata: dict[str, Argument] = field(default_factory=dict)
    annotation_node: Node | None = field(default=None, repr=False, compare=False)

    @property
    def flag(self) -> bool:
        """Whether the annotation makes a flag of the field."""
        no_cli = self.metadata.get("no_cli")
        return self.kind == "annotated" and not (no_cli and no_cli.text == "True")


@dataclass
class FlagSites:
    """All declarations seen. ``registrars`` are the calls that register annotated fields in a loop."""

    calls: list[FlagCall] = field(default_factory=list)
    registrars: list[FlagCall] = field(default_factory=list)
    fields: dict[str, FieldSite] = field(default_factory=dict)

    @property
    def layouts(self) -> list[str]:
        """What the tree looks like: ``argparse calls``, ``annotated fields``, ``annotated namespaces``."""
        flags = [one for one in self.fields.values() if one.flag]
        found = ["argparse calls"] if self.calls else []
        if any(one.class_name == RECORD_CLASS for one in flags):
            found.append("annotated fields")
        if any(one.class_name != RECORD_CLASS for one in flags):
            found.append("annotated namespaces")
        return found

    @property
    def declarations(self) -> int:
        """The number of flags that the declarations seen should make, for a cross-check."""
        registered = len(self.calls)
        return registered + (sum(one.flag for one in self.fields.values()) if self.registrars else 0)


def flag_sites(graph: ModuleGraph) -> FlagSites:
    """Return every flag declaration of the tree.

    Raises:
        CannotError: the tree has no ``ServerArgs`` with ``add_cli_args``.
    """
    module = graph.module(ARGUMENTS_MODULE)
    record = graph.resolve(module, RECORD_CLASS, follow=False) if module else None
    classes = graph.definitions(module, RECORD_CLASS) if module else []
    owner = next((one for one in (*classes, record) if one is not None and one.kind == "class"), None)
    if module is None or owner is None:
        raise CannotError(f"{ARGUMENTS_MODULE} has no class {RECORD_CLASS}", "is this a SGLang tree?")
    sites = FlagSites()
    start = graph.method(owner, REGISTRAR)
    if start is None:
        raise CannotError(f"{ARGUMENTS_MODULE}: {RECORD_CLASS} has no {REGISTRAR}")
    _collect_calls(graph, start, sites, set())
    for one in reversed([cls for cls in graph.mro(owner) if cls.kind == "class"]):
        _collect_fields(graph, one, sites, None)
    for namespace, path in namespaces(graph, module):
        _collect_fields(graph, namespace, sites, path)
    return sites


def namespaces(graph: ModuleGraph, module: Module) -> list[tuple[Definition, str]]:
    """Return the classes carrying a namespace mark in the modules that ``module`` imports, with the mark."""
    seen: dict[str, tuple[Definition, str]] = {}
    sources = {one.module for one in module.imports} | {f"{one.module}.{one.name}" for one in module.imports}
    for name in sorted(sources):
        source = graph.module(name)
        for record in source.assignments if source else []:
            class_name, _, attribute = record.qualname.rpartition(".")
            if source and attribute == NAMESPACE_MARK and record.value:
                definition = next(iter(graph.definitions(source, class_name)), None)
                if definition is not None:
                    seen[definition.dotted] = (definition, record.value.strip("'\""))
    return list(seen.values())


def _collect_calls(graph: ModuleGraph, function: Definition, sites: FlagSites, seen: set[str]) -> None:
    """Add the calls in a function and in the helpers that it hands its parser to."""
    module, node = graph.module(function.module), node_of(graph, function)
    if function.dotted in seen or module is None or node is None:
        return
    seen.add(function.dotted)
    for call in queries.captures("add_argument", node).get("call", []):
        found = _flag_call(call, function.qualname, module)
        (sites.calls if found.option_strings else sites.registrars).append(found)
    parameters = node.child_by_field_name("parameters")
    names = {text(one).partition(":")[0].strip() for one in (parameters.named_children if parameters else [])}
    for callee in queries.captures("calls", node).get("callee", []):
        helper = callee.parent
        if helper is not None and any(text(one) in names for one in positional_arguments(helper)):
            target = graph.resolve(module, text(callee), function.qualname)
            if target is not None and target.kind == "class":
                target = graph.method(target, "__init__")
            if target is not None and target.kind == "function":
                _collect_calls(graph, target, sites, seen)


def _flag_call(call: Node, function: str, module: Module) -> FlagCall:
    options = tuple(
        value for one in positional_arguments(call) if (value := string_value(one)) and value.startswith("-")
    )
    keywords = _arguments(call, module)
    dest = string_value(keywords["dest"].node) if "dest" in keywords else None
    if dest is None and options:
        long = next((one for one in options if one.startswith("--")), options[0])
        dest = long.lstrip("-").replace("-", "_")
    return FlagCall(options, dest, location(call, module.path, function), module, keywords)


def _arguments(call: Node, module: Module) -> dict[str, Argument]:
    return {
        name: Argument(text(node), location(node, module.path), node)
        for name, node in keyword_arguments(call).items()
    }


def _collect_fields(graph: ModuleGraph, owner: Definition, sites: FlagSites, namespace: str | None) -> None:
    module = graph.module(owner.module)
    for record in module.assignments if module else []:
        class_name, _, name = record.qualname.rpartition(".")
        if module is None or class_name != owner.qualname or "." in name or name == NAMESPACE_MARK:
            continue
        site = _field(graph, module, record, name, owner.qualname, namespace)
        if site is not None:
            sites.fields[name] = site


def _field(
    graph: ModuleGraph, module: Module, record: Assignment, name: str, owner: str, namespace: str | None
) -> FieldSite | None:
    at = Location(module.path, record.line, record.end_line, record.qualname)
    if record.annotation is None:
        derived = namespace is not None and (record.value or "").startswith("Derived(")
        return (
            FieldSite(name, "derived", at, owner, module, None, record.value, namespace) if derived else None
        )
    if record.annotation.startswith(("ClassVar", "typing.ClassVar")):
        return None
    node = node_of(graph, Definition("assignment", module.name, record.qualname, module.path, record))
    annotation = node.child_by_field_name("type") if node else None
    metadata: dict[str, Argument] = {}
    annotated = False
    if annotation is not None:
        head, parts = annotation_parts(annotation)
        if _is_annotated(graph, module, head):
            metadata, mark = _metadata(parts[1:], module)
            annotated, namespace = bool(metadata) or "Arg(" in record.annotation, mark or namespace
    kind = "annotated" if annotated else "plain"
    return FieldSite(
        name, kind, at, owner, module, record.annotation, record.value, namespace, metadata, annotation
    )


def _is_annotated(graph: ModuleGraph, module: Module, head: str) -> bool:
    if head.rpartition(".")[2] == "Annotated":
        return True
    definition = graph.resolve(module, head) if head.isidentifier() else None
    return definition is not None and definition.qualname.rpartition(".")[2] == "Annotated"


def _metadata(parts: list[Node], module: Module) -> tuple[dict[str, Argument], str | None]:
    """Return the keywords of the metadata in an annotation and its namespace mark."""
    found: dict[str, Argument] = {}
    namespace = None
    for part in parts:
        if part.type == "call":
            arguments = positional_arguments(part)
            if text(part).startswith("NS("):
                namespace = string_value(arguments[0]) if arguments else None
            else:
                found.update(_arguments(part, module))
        elif part.type in ("string", "concatenated_string", "parenthesized_expression"):
            found.setdefault("help", Argument(text(part), location(part, module.path), part))
    return found, namespace
