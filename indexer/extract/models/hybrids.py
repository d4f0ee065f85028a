"""Which models keep recurrent state, of which kind, and which attention backend runs their linear layers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from indexer.extract.models.configs import ConfigClass
from indexer.extract.models.tests import ArchitectureTests
from indexer.extract.reduction import Place, flat, written_path
from indexer.knowledge.schema import Condition, Location
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.guards import Guard, guarded_statements
from indexer.syntax.nodes import keyword_arguments, node_of, positional_arguments
from indexer.syntax.parse import location, string_value, text

UNION = "mambaish_config"
WRAPPER = "attn_backend_wrapper"
_PREDICATE = re.compile(r"^(\w*_config|is_hybrid_gdn)$")
_PREDICATE_FOLDERS = (f"{PACKAGE_ROOT}/srt/configs", f"{PACKAGE_ROOT}/srt/model_executor")
_BACKEND_FOLDER = f"{PACKAGE_ROOT}/srt/layers/attention"
_CONFIG_FOLDER = f"{PACKAGE_ROOT}/srt/configs"
_REGISTER = "register_linear_attn_model"
_OTHER_PLATFORM = re.compile(r"^_?is_(npu|xpu|cpu|hip|musa)(\(\))?$")
_KINDS = {"KimiLinear": "KDA", "Lightning": "lightning", "ShortConv": "ShortConv"}
_PREDICATE_KINDS = {
    "mamba2_config": "Mamba2",
    "hybrid_gdn_config": "GDN",
    "is_hybrid_gdn": "GDN",
    "kimi_linear_config": "KDA",
    "hybrid_lightning_config": "lightning",
}
_MIXERS = {"GatedDelta": "GDN", "MambaMixer2": "Mamba2"}
_FOR_ALL_KINDS = "MambaAttnBackend"
"""The one backend that releases had before each kind got its own."""
_ASKS = re.compile(r"isinstance|model_type|\barchitectures\b")
_ARCHITECTURES = re.compile(r"\barchitectures\b")


@dataclass(frozen=True)
class Match:
    """How an architecture is found to be hybrid."""

    predicate: str
    at: Location
    config_class: str
    condition: str | None


@dataclass(frozen=True)
class Predicate:
    """A function that says whether a configuration is of one hybrid kind."""

    definition: Definition
    node: Node
    place: Place

    @property
    def name(self) -> str:
        return self.definition.qualname.rpartition(".")[2]


def find_function(graph: ModuleGraph, name: str, folders: tuple[str, ...]) -> Definition | None:
    """Return the function or method of a name in some folders, wherever a release keeps it."""
    mark = f"def {name}(".encode()
    for folder in folders:
        for path in graph.tree.walk(folder):
            if mark in graph.tree.read(path):
                module = graph.module(path)
                for record in module.functions if module else ():
                    if record.qualname.rpartition(".")[2] == name:
                        return Definition("function", module.name, record.qualname, path, record)  # type: ignore[union-attr]
    return None


def predicates(graph: ModuleGraph) -> list[Predicate]:
    """Return the predicates that together say "has recurrent state", in the order in which they are asked."""
    union = find_function(graph, UNION, _PREDICATE_FOLDERS)
    start = union or find_function(graph, "is_hybrid_gdn", _PREDICATE_FOLDERS)
    found: dict[str, Predicate] = {}
    _collect(graph, start, found)
    return [one for one in found.values() if _ASKS.search(text(one.node))]


def _collect(graph: ModuleGraph, definition: Definition | None, found: dict[str, Predicate]) -> None:
    module = graph.module(definition.module) if definition else None
    node = node_of(graph, definition) if definition else None
    if definition is None or module is None or node is None or definition.qualname in found:
        return
    found[definition.qualname] = Predicate(definition, node, Place(module, definition.qualname, node))
    owner = definition.qualname.rpartition(".")[0]
    for name in re.findall(r"\b(?:self\.)?(\w+_config)\b", text(node)):
        if name != definition.qualname.rpartition(".")[2] and _PREDICATE.match(name):
            called = graph.definitions(module, f"{owner}.{name}" if owner else name)
            target = called[0] if called else None
            if target is not None and target.kind == "function":
                _collect(graph, target, found)


def match_predicate(
    predicate: Predicate, config: ConfigClass, tests: ArchitectureTests, architecture: str = ""
) -> Match | None:
    """Return how a predicate holds for an architecture's configuration class, None where it never does."""
    for one in guarded_statements(predicate.node):
        if one.statement.type != "return_statement" or not one.statement.named_children:
            continue
        value = one.statement.named_children[0]
        if value.type == "none":
            continue
        if value.type == "comparison_operator" and _ARCHITECTURES.search(text(value)):
            # Up to 0.5.3 the predicate lists architectures instead of asking for a class.
            at = tests.architectures_in(value, predicate.place).values.get(architecture)
            if at is not None:
                return Match(predicate.name, at, architecture, None)
            continue
        guards = one.guards
        if value.type == "conditional_expression":
            guards = (*guards, Guard(value.named_children[1]))
        match = _match(predicate, guards, config, tests)
        if match is not None:
            return match
    return None


def _match(
    predicate: Predicate, guards: tuple[Guard, ...], config: ConfigClass, tests: ArchitectureTests
) -> Match | None:
    found: tuple[str, Location] | None = None
    rest: list[Condition] = []
    for guard in guards:
        for part in _conjuncts(guard.test) if guard.holds else (guard.test,):
            test = text(part)
            if part.type == "call" and test.startswith("isinstance("):
                subject, classes = positional_arguments(part)
                match = tests.config_match(classes, config, predicate.place, text(subject))
                if (match is not None) is not guard.holds:
                    return None
                found = match or found
            elif guard.holds and "model_type" in test and part.type == "comparison_operator":
                wanted = string_value(part.named_children[-1])
                if wanted not in config.model_types:
                    return None
                found = (f"model_type {wanted}", location(part, predicate.place.module.path))
            elif "isinstance(" not in test and "draft" not in test:
                rest.append(Condition(flat(test), guard.holds))
    if found is None:
        return None
    return Match(predicate.name, found[1], found[0], written_path(rest))


def _conjuncts(test: Node) -> list[Node]:
    if test.type == "parenthesized_expression":
        return _conjuncts(test.named_children[0])
    operator = test.child_by_field_name("operator")
    if test.type == "boolean_operator" and operator is not None and text(operator) == "and":
        return [part for child in test.named_children for part in _conjuncts(child)]
    return [test]


@dataclass(frozen=True)
class Registration:
    """A hybrid model registered by a call, with its backend as a dotted name."""

    at: Location
    architectures: tuple[str, ...]
    config_class: str
    backend: str | None
    radix: bool
    extra_buffer: bool


def registrations(graph: ModuleGraph) -> list[Registration]:
    """Return the registered hybrid models: ``register_linear_attn_model(Spec(...))``."""
    found = []
    for path in graph.tree.walk(_CONFIG_FOLDER):
        if f"{_REGISTER}(".encode() not in graph.tree.read(path):
            continue
        for statement in graph.syntax(path).root_node.named_children:
            call = statement.named_children[0] if statement.named_children else None
            if (
                call is None
                or call.type != "call"
                or not text(call).startswith("register_linear_attn_model(")
            ):
                continue
            spec = positional_arguments(call)[0]
            keywords = keyword_arguments(spec)
            names = keywords.get("arch_names") or keywords.get("archs")
            backend = keywords.get("backend_class_name")
            found.append(
                Registration(
                    location(call, path),
                    tuple(re.findall(r"[\"'](\w+)[\"']", text(names))) if names else (),
                    text(keywords["config_class"]) if "config_class" in keywords else "",
                    string_value(backend) if backend else None,
                    "uses_mamba_radix_cache" in keywords
                    and text(keywords["uses_mamba_radix_cache"]) == "True",
                    text(keywords.get("support_mamba_cache_extra_buffer", spec)) == "True",
                )
            )
    return found


class BackendChoice:
    """The function that wraps the full-attention backend for hybrid models, and its choice per kind."""

    def __init__(self, graph: ModuleGraph, tests: ArchitectureTests, names: list[str]) -> None:
        self.graph = graph
        self.tests = tests
        self.names = names
        definition = find_function(graph, WRAPPER, (_BACKEND_FOLDER,)) or _making_function(graph)
        self.at = definition.location if definition else None
        self._node = node_of(graph, definition) if definition else None
        module = graph.module(definition.module) if definition else None
        self._place = Place(module, definition.qualname, self._node) if module and definition else None

    def of(self, predicate: str, config: ConfigClass) -> tuple[str, Location] | None:
        """Return the linear-attention backend class on CUDA for a kind and configuration, and its line."""
        if self._node is None or self._place is None:
            return None
        for one in guarded_statements(self._node):
            name = _backend_name(one.statement)
            if name and all(self._holds(guard, predicate, config) is not False for guard in one.guards):
                return name, location(one.statement, self._place.module.path, self._place.scope)
        return None

    def restrictions(self, predicate: str, config: ConfigClass) -> list[tuple[str, str | None, Location]]:
        """Return (test, condition, place) of the assertions that the choice makes for a kind."""
        found = []
        for one in guarded_statements(self._node) if self._node and self._place else ():
            if one.statement.type != "assert_statement":
                continue
            decided = [self._holds(guard, predicate, config) for guard in one.guards]
            if False in decided or not any(predicate in text(guard.test) for guard in one.guards):
                continue
            rest = [
                Condition(flat(text(guard.test)), guard.holds)
                for guard, value in zip(one.guards, decided, strict=True)
                if value is None
            ]
            test = flat(text(one.statement.named_children[0]))
            at = location(one.statement, self._place.module.path, self._place.scope)  # type: ignore[union-attr]
            found.append((test, written_path(rest), at))
        return found

    def _holds(self, guard: Guard, predicate: str, config: ConfigClass) -> bool | None:
        """Return whether a test goes the way of the path, on CUDA; None where something else decides."""
        test = text(guard.test)
        if _OTHER_PLATFORM.match(test):
            return not guard.holds
        if UNION in test:
            return guard.holds
        if "isinstance(" in test and self._place is not None:
            call = next(one for one in _walk(guard.test) if text(one).startswith("isinstance("))
            subject, classes = positional_arguments(call)
            matched = self.tests.config_match(classes, config, self._place, text(subject))
            return (matched is not None) is guard.holds
        for name in self.names:
            if re.search(rf"\b{name}\b", test):
                return (name == predicate) is guard.holds
        return None


def _making_function(graph: ModuleGraph) -> Definition | None:
    """Return the method of the model runner that makes the backend where no function wraps it."""
    for path in graph.tree.walk(_PREDICATE_FOLDERS[1]):
        if b"linear_attn_backend = " in graph.tree.read(path):
            module = graph.module(path)
            for record in module.functions if module else ():
                found = Definition("function", module.name, record.qualname, path, record)  # type: ignore[union-attr]
                if "linear_attn_backend = " in text_of(graph, found):
                    return found
    return None


def text_of(graph: ModuleGraph, definition: Definition) -> str:
    """Return a definition's source, empty where it can't be read."""
    node = node_of(graph, definition)
    return text(node) if node is not None else ""


def _walk(node: Node) -> list[Node]:
    found = [node] if node.type == "call" else []
    for child in node.named_children:
        found += _walk(child)
    return found


def _backend_name(statement: Node) -> str | None:
    """Return the backend class that a statement makes: ``linear_attn_backend = X(runner)`` or a return."""
    inner = statement.named_children[0] if statement.named_children else None
    if inner is None:
        return None
    if inner.type == "assignment" and text(inner.child_by_field_name("left") or inner).startswith(
        "linear_attn"
    ):
        right = inner.child_by_field_name("right")
        function = right.child_by_field_name("function") if right and right.type == "call" else None
        return text(function) if function else None
    if statement.type == "return_statement" and inner.type == "call":
        made = [one for one in positional_arguments(inner) if one.type == "call"]
        if made:
            return text(made[0].child_by_field_name("function") or made[0])
    return None


def kind_of_predicate(predicate: str) -> str:
    """Return the hybrid kind that a predicate is named after."""
    return _PREDICATE_KINDS.get(predicate) or predicate.removeprefix("hybrid_").removesuffix("_config")


def kind_of_model(source: str, backend: str) -> str:
    """Return the hybrid kind of a model from its backend, or from its mixer where one backend runs all."""
    if backend == _FOR_ALL_KINDS:
        for mixer, kind in _MIXERS.items():
            if mixer in source:
                return kind
    return kind_of(backend)


def kind_of(backend: str) -> str:
    """Return the hybrid kind a backend class is made for (``GDNAttnBackend`` gives ``GDN``)."""
    stem = re.sub(r"(Attn|Attention)Backend$", "", backend)
    for part, kind in _KINDS.items():
        if part in stem:
            return kind
    return stem
