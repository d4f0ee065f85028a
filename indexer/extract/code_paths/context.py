"""The call graph of a tree as one path sees it: under its assumptions and bindings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from indexer.extract.code_paths.matching import Matcher, glob, last_part
from indexer.extract.code_paths.plan import Path, Plan, Role
from indexer.extract.code_paths.templates import Binding, Finder, PathSelector, TemplateError, bind
from indexer.syntax.callgraph.assumptions import Assumptions
from indexer.syntax.callgraph.edges import Edges
from indexer.syntax.callgraph.enums import EnumTable
from indexer.syntax.callgraph.expressions import parse
from indexer.syntax.callgraph.facts import Call
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.symbols import Class, Function, Symbols


class Tree:
    """What all paths of a tree share: symbols, enum tables, default values of boolean fields."""

    def __init__(self, symbols: Symbols, plan: Plan) -> None:
        self.symbols = symbols
        self.plan = plan
        self._contexts: dict[str, Context] = {}

    @cached_property
    def enums(self) -> dict[str, EnumTable]:
        """The tables of the enums that modes and algorithms are members of."""
        wanted = {mode["enum"] for mode in self.plan.mode.values() if "enum" in mode}
        wanted |= {self.plan.template["worker"]["enum"]} if "worker" in self.plan.template else set()
        found: dict[str, EnumTable] = {}
        for name in sorted(wanted):
            classes = self.symbols.classes_by_name.get(name, ())
            if classes:
                found[name] = max(
                    (EnumTable(self.symbols, c) for c in classes), key=lambda t: len(t.predicates)
                )
        return found

    @cached_property
    def field_defaults(self) -> dict[str, bool]:
        """Boolean configuration fields and the default that their declaration gives."""
        found: dict[str, bool] = {}
        for cls in self.config_classes:
            for store in cls.scope.stores:
                if store.value in ("True", "False") and store.target.isidentifier():
                    found.setdefault(store.target, store.value == "True")
        return found

    @cached_property
    def field_values(self) -> dict[str, object]:
        """Configuration fields whose declared default is a string or a number."""
        found: dict[str, object] = {}
        for cls in self.config_classes:
            for store in cls.scope.stores:
                expr = parse(store.value) if store.value and len(store.value) < 40 else ("other",)
                if expr[0] in ("str", "const") and expr[1] is not None and store.target.isidentifier():
                    found.setdefault(store.target, expr[1])
        return found

    @cached_property
    def config_classes(self) -> list[Class]:
        """The classes whose fields are the server's configuration, whatever era."""
        return [
            cls
            for cls in self.symbols.classes.values()
            if cls.scope.name == "ServerArgs" or any(s.target == "_NS_PATH" for s in cls.scope.stores)
        ]

    @cached_property
    def config_fields(self) -> frozenset[str]:
        """Names of all configuration fields."""
        return frozenset(
            store.target
            for cls in self.config_classes
            for store in cls.scope.stores
            if store.target.isidentifier() and not store.target.startswith("_") and store.target.islower()
        )

    @cached_property
    def method_calls(self) -> dict[str, list[tuple[Function, Call]]]:
        """The calls of methods (those through ``super()`` left out), by the method's name."""
        found: dict[str, list[tuple[Function, Call]]] = {}
        for function in self.symbols.functions.values():
            for call in function.scope.calls:
                if "." in call.callee and "super()" not in call.callee:
                    found.setdefault(last_part(call.callee), []).append((function, call))
        return found

    @cached_property
    def positions(self) -> dict[Function, int]:
        """The functions' order in the tree."""
        return {function: number for number, function in enumerate(self.symbols.functions.values())}

    @cached_property
    def overlap(self) -> bool:
        """Whether speculation runs overlapped by default: not where the tree's own switch is off."""
        rule = self.plan.overlap
        for cls in self.symbols.classes.values():
            for store in cls.scope.stores:
                if store.target == rule.get("switch"):
                    return store.value != rule.get("off")
        return True

    def context(self, path: Path) -> Context:
        """Return the call graph under a path's assumptions; paths with the same ones share it."""
        names, chosen = sorted(path.names.items()), sorted(path.chosen.items())
        key = repr((path.algorithm, path.device, path.architectures, names, path.bind, chosen))
        if key not in self._contexts:
            self._contexts[key] = Context(self, path)
        return self._contexts[key]


class Context:
    """Inference and edges for one set of assumptions.

    Raises:
        TemplateError: a binding the path asks for has no witness, or several classes.
    """

    def __init__(self, tree: Tree, path: Path) -> None:
        self.tree = tree
        plan = tree.plan
        device = plan.device[path.device]
        self.excluded: list[str] = device.get("exclude", [])
        self._outside: dict[str, bool] = {}
        self.architecture = next((a for a in path.architectures if a in tree.symbols.classes_by_name), None)
        for self.overlap in (True, False) if tree.overlap else (False,):
            self._assume(path, _names(device))
            self._bind(path)
            if "worker" not in self.errors:
                break  # otherwise the algorithm has no worker for overlap: it runs without
        selector = PathSelector(self.assumptions, list(self.bindings.values()))
        self.inference = Inference(tree.symbols, selector)
        self.edges = Edges(self.inference)
        self.matcher = Matcher(self.edges, {name: b.cls for name, b in self.bindings.items()})

    def _assume(self, path: Path, names: dict[str, bool]) -> None:
        plan, tree = self.tree.plan, self.tree
        names = {**names, **path.names}
        for rule in plan.overlap.get("names_on", []):
            names.setdefault(rule, self.overlap)
        for rule in plan.overlap.get("names_off", []):
            names.setdefault(rule, not self.overlap)
        members = {plan.template["worker"]["enum"]: path.algorithm} if "worker" in plan.template else {}
        self.assumptions = Assumptions(names, tree.enums, members)
        soft = {**tree.field_defaults, **names}
        self.defaults = Assumptions(soft, tree.enums, members, tree.field_values)

    def _bind(self, path: Path) -> None:
        self.bindings: dict[str, Binding] = {}
        self.errors: dict[str, TemplateError] = {}
        for name in path.bind:
            selector = PathSelector(self.assumptions, list(self.bindings.values()))
            finder = Finder(self.tree.symbols, selector, self.outside)
            try:
                template = {**self.tree.plan.template[name], "at": path.chosen.get(name)}
                self.bindings[name] = bind(name, template, finder, path)
            except TemplateError as error:
                self.errors[name] = error

    def candidates(self, role: Role) -> Iterator[Function]:
        """Yield the device's functions that may play a role by their name, in the tree's order."""
        symbols = self.tree.symbols
        if role.name:
            named = (
                symbols.functions_by_name[name] for name in symbols.functions_by_name if glob(name, role.name)
            )
            functions = sorted(chain.from_iterable(named), key=self.tree.positions.__getitem__)
        else:
            functions = list(symbols.functions.values())
        return (function for function in functions if not self.outside(function.module.path))

    def outside(self, path: str) -> bool:
        """Whether a file belongs to another device."""
        if path not in self._outside:
            self._outside[path] = any(glob(path, pattern) for pattern in self.excluded)
        return self._outside[path]

    def mode(self, name: str, base: Assumptions) -> Assumptions:
        """Return assumptions with a mode of the plan applied."""
        mode: dict[str, Any] = self.tree.plan.mode[name]
        return base.with_mode(mode.get("enum", ""), mode.get("member"), _names(mode))


def _names(table: dict[str, Any]) -> dict[str, bool]:
    return {**dict.fromkeys(table.get("true", []), True), **dict.fromkeys(table.get("false", []), False)}
