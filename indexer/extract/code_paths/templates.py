"""Edge templates: classes that no general rule finds, each with a witness in the tree.

A template that finds no witness, or more than one class, is an error that names what was found.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec

from indexer.extract.code_paths.matching import glob
from indexer.syntax.callgraph.assumptions import Assumptions
from indexer.syntax.callgraph.expressions import arguments, parse
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.symbols import Class, Function, Symbols
from indexer.syntax.callgraph.values import ClassObject, Evidence, Frame, Instance, Types


class Binding(msgspec.Struct):
    """A class chosen by a template, and the lines that say so."""

    id: str
    cls: Class
    witnesses: list[tuple[str, int]]
    guards: list[tuple[str, int]]
    rules: list[dict[str, str]]


class TemplateError(Exception):
    """A template found no witness or several classes."""

    def __init__(self, template: str, problem: str, candidates: list[tuple[str, str, int]]) -> None:
        listed = "; ".join(f"{name} ({path}:{line})" for name, path, line in candidates[:6])
        super().__init__(f"template {template}: {problem}" + (f"; nearest: {listed}" if listed else ""))
        self.template = template
        self.problem = problem
        self.candidates = candidates


Found = dict[Class, list[tuple[str, int, int]]]
"""Class → (path, line, guard) of its witnesses."""


class Finder:
    """What the recognisers need: the tree, the path's assumptions, inference under them."""

    def __init__(self, symbols: Symbols, selector: PathSelector, outside: Callable[[str], bool]) -> None:
        self.symbols = symbols
        self.selector = selector
        self.assumptions = selector.assumptions
        self.outside = outside

    @cached_property
    def inference(self) -> Inference:
        """Inference under the assumptions and the bindings found so far."""
        return Inference(self.symbols, self.selector)


def bind(name: str, template: dict[str, Any], finder: Finder, path: Any) -> Binding:
    """Run a template.

    Raises:
        TemplateError: no witness, or more than one class.
    """
    found, near = RECOGNISERS[template["find"]](finder, template, path)
    if not found:
        raise TemplateError(name, "no witness in this tree", near)
    if len(found) > 1:
        listed = [(cls.qualname, where[0][0], where[0][1]) for cls, where in found.items()]
        raise TemplateError(name, f"{len(found)} classes fit", listed)
    cls, where = next(iter(found.items()))
    return Binding(
        name,
        cls,
        [(p, line) for p, line, _ in where],
        [(p, guard) for p, _, guard in where if guard >= 0],
        template.get("on", []),
    )


def _worker(finder: Finder, template: dict[str, Any], path: Any) -> tuple[Found, list[tuple[str, str, int]]]:
    """The class that the algorithm's factory returns under the path's assumptions."""
    found: Found = {}
    near: list[tuple[str, str, int]] = []
    for function in finder.symbols.functions_by_name.get(template["factory"], ()):
        if function.is_stub or finder.outside(function.module.path):
            continue
        if function.cls is None or function.cls.scope.name != template["enum"]:
            continue
        _returned_classes(finder, function, found, near)
    registry = template.get("register", "")
    for module in finder.symbols.modules.values() if not found else ():
        for call in module.facts.scopes[0].calls:
            if call.callee != registry:
                continue
            args = arguments(call.arguments)
            if not args or args[0][1] != ("str", path.algorithm):
                continue
            for _, expr in args[1:]:
                if expr[0] != "name":
                    continue
                for atom in finder.inference.types(expr, Frame(module, None, None)):
                    made = getattr(atom, "function", None)
                    if isinstance(made, Function):
                        _returned_classes(finder, made, found, near)
    for where in found.values():
        where.extend(_attribute_stores(finder, template))
    return found, near


def _returned_classes(
    finder: Finder, function: Function, found: Found, near: list[tuple[str, str, int]]
) -> None:
    for entry in function.scope.returns:
        types = finder.inference.types(
            parse(entry.value),
            Frame(function.module, function, (function.cls, False) if function.cls else None),
        )
        for atom in types:
            if not isinstance(atom, ClassObject | Instance):
                continue
            near.append((atom.cls.qualname, function.module.path, entry.line))
            if isinstance(atom, ClassObject) and not atom.exact:
                continue
            if finder.assumptions.guard(function.module, entry.guard) is not False:
                found.setdefault(atom.cls, []).append((function.module.path, entry.line, entry.guard))


def _attribute_stores(finder: Finder, template: dict[str, Any]) -> list[tuple[str, int, int]]:
    """The stores that carry the worker into the attribute the template is about."""
    lines: list[tuple[str, int, int]] = []
    for rule in template.get("on", ()):
        for cls in finder.symbols.classes_by_name.get(rule.get("class", ""), ()):
            for _, store, _ in cls.attribute_stores.get(rule["attribute"], ()):
                if template.get("stored") and template["stored"] in store.value:
                    lines.append((cls.module.path, store.line, store.guard))
    return lines


def _entry_class(
    finder: Finder, template: dict[str, Any], path: Any
) -> tuple[Found, list[tuple[str, str, int]]]:
    """The class that a model module lists as its entry for the architecture."""
    found: Found = {}
    near: list[tuple[str, str, int]] = []
    for architecture in path.architectures:
        for cls in finder.symbols.classes_by_name.get(architecture, ()):
            near.append((cls.qualname, cls.module.path, cls.scope.line))
            for store in cls.module.facts.scopes[0].stores:
                if store.target == "EntryClass" and architecture in store.value:
                    found.setdefault(cls, []).append((cls.module.path, store.line, store.guard))
        if found:
            break
    return found, near


def _stores_attributes(
    finder: Finder, template: dict[str, Any], path: Any
) -> tuple[Found, list[tuple[str, str, int]]]:
    """The class whose constructor stores all given attributes (with a given value in it, if any)."""
    found: Found = {}
    near: list[tuple[str, str, int]] = []
    wanted: list[str] = template["attributes"]
    for cls in finder.symbols.classes.values():
        if finder.outside(cls.module.path):
            continue
        stores = [cls.attribute_stores.get(name, ()) for name in wanted]
        if not any(stores):
            continue
        hits = [
            (cls.module.path, store.line, store.guard)
            for listed in stores
            for function, store, _ in listed
            if function.name == "__init__" and template.get("value", "") in store.value
        ]
        near.append((cls.qualname, cls.module.path, cls.scope.line))
        if all(stores) and len(hits) >= len(wanted):
            found[cls] = hits
    top = {
        cls: hits for cls, hits in found.items() if not any(o is not cls and cls.is_below(o) for o in found)
    }
    return top, near


def _local_store(
    finder: Finder, template: dict[str, Any], path: Any
) -> tuple[Found, list[tuple[str, str, int]]]:
    """The class constructed into a local of a given name, at the place that is known for the model, else
    under guards that may hold and name the kind."""
    found: Found = {}
    near: list[tuple[str, str, int]] = []
    for function in finder.symbols.functions.values():
        if not any(store.target == template["local"] for store in function.scope.stores):
            continue
        if finder.outside(function.module.path):
            continue
        for store, _ in function.local_stores.get(template["local"], ()):
            expr = parse(store.value)
            if expr[0] != "call":
                continue
            for atom in finder.inference.types(expr, Frame(function.module, function, None)):
                if not isinstance(atom, Instance) or finder.outside(atom.cls.module.path):
                    continue
                near.append((atom.cls.qualname, function.module.path, store.line))
                if finder.assumptions.guard(function.module, store.guard) is False:
                    continue
                place = f"{function.module.path}:{store.line}"
                if place == template["at"] or (
                    template["at"] is None and _names_kind(function, store.guard, template["kind_names"])
                ):
                    found.setdefault(atom.cls, []).append((function.module.path, store.line, store.guard))
    return found, near


def _names_kind(function: Function, guard: int, names: list[str]) -> bool:
    """Whether a guard around the store names one of the predicates, positively."""
    while guard >= 0:
        entry = function.module.facts.guards[guard]
        if entry.holds and any(name in entry.text for name in names):
            return True
        guard = entry.parent
    return False


RECOGNISERS: dict[str, Callable[..., tuple[Found, list[tuple[str, str, int]]]]] = {
    "factory-return": _worker,
    "entry-class": _entry_class,
    "constructor-stores": _stores_attributes,
    "local-store": _local_store,
}


class PathSelector:
    """Applies a path's assumptions and bindings inside inference."""

    def __init__(self, assumptions: Assumptions, bindings: list[Binding]) -> None:
        self.assumptions = assumptions
        self._rules = [(binding, rule) for binding in bindings for rule in binding.rules]
        self._speaking: dict[tuple[str, str], list[tuple[Binding, dict[str, str]]]] = {}

    def _about(self, what: str, name: str) -> list[tuple[Binding, dict[str, str]]]:
        """Return the rules about an ``attribute``, ``function`` or ``parameter`` of a name."""
        key = (what, name)
        rules = self._speaking.get(key)
        if rules is None:
            rules = [(binding, rule) for binding, rule in self._rules if glob(name, rule.get(what, ""))]
            self._speaking[key] = rules
        return rules

    def impossible(self, module: Any, guard: int) -> bool:
        return guard >= 0 and self.assumptions.guard(module, guard) is False

    def attribute(self, owner: Class | None, name: str, found: Types, frame: Frame | None) -> Types | None:
        for binding, rule in self._about("attribute", name):
            if self._owned(owner, rule):
                chosen = self._choose(binding, rule, found, frame)
                if chosen is not None:
                    return chosen
        return None

    def result(self, function: Function, found: Types, frame: Frame | None) -> Types | None:
        for binding, rule in self._about("function", function.name):
            chosen = self._choose(binding, rule, found, frame)
            if chosen is not None:
                return chosen
        return None

    def parameter(self, name: str, found: Types, frame: Frame) -> Types | None:
        first = next(iter(self._about("parameter", name)), None)
        return self._choose(*first, found, frame) if first else None

    @staticmethod
    def _owned(owner: Class | None, rule: dict[str, str]) -> bool:
        wanted = rule.get("class")
        if not wanted:
            return True
        return owner is not None and any(glob(cls.scope.name, wanted) for cls in owner.mro)

    @staticmethod
    def _choose(binding: Binding, rule: dict[str, str], found: Types, frame: Frame | None) -> Types | None:
        """Return the bound class, unless asked from inside it; ``narrow`` rules need a candidate for it."""
        function = frame.function if frame else None
        while function is not None and function.cls is None:
            function = function.outer
        if function is not None and function.cls is not None and binding.cls.is_below(function.cls):
            return None
        candidate = any(
            isinstance(atom, Instance | ClassObject)
            and (binding.cls.is_below(atom.cls) or atom.cls.is_below(binding.cls))
            for atom in found
        )
        if rule.get("narrow") and not candidate:
            return None
        how = f"binding:{binding.id}" if candidate else f"template:{binding.id}"
        guard = binding.guards[0] if binding.guards else None
        return {Instance(binding.cls, True): Evidence(how, binding.witnesses[0], guard)}
