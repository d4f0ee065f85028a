"""The field names of the ServerArgs record, and how code spells a read or write of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from indexer.extract.rules.facts import Definition, Expr, Function
from indexer.extract.rules.stages import NAMESPACE_FOLDER, RECORD_FILE
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.module import Module

_PARSER_METHODS = {"add_cli_args", "from_cli_args"}
_VIEW = re.compile(
    r"(^|_)(resolved|resolving|resolver)?_?(view|config_view)\(\)$"
    r"|^_?resolved\(\)$|^(resolved|resolving)_\w+\(\)$"
)
_RECORDS = re.compile(r"^_?(global_)?server_args(_dict)?$|^get_(global_)?server_args\(\)$")
_COPIES = re.compile(r"^(copy\.)?(deepcopy|copy)$")
_NAMESPACE_GETTER = re.compile(r"^get_([a-z]+)\(\)$")
_LONGEST_CHASE = 4
_MOST_DEFINITIONS = 6


def record_class(graph: ModuleGraph) -> str | None:
    """Return the name of the record class: the one that registers its arguments with the parser."""
    module = graph.module(RECORD_FILE)
    if module is None:
        return None
    methods = {function.qualname for function in module.functions}
    found = [
        one.qualname
        for one in module.classes
        if any(f"{one.qualname}.{name}" in methods for name in _PARSER_METHODS)
    ]
    return found[0] if found else None


@dataclass(frozen=True)
class Fields:
    """Names of the record's fields, and of the namespaces they are published under."""

    names: frozenset[str]
    namespaces: frozenset[str]
    record: str


def read_fields(graph: ModuleGraph) -> Fields:
    """Collect field names: annotated names of the record class and of the namespace classes."""
    record = record_class(graph) or "ServerArgs"
    names: set[str] = set()
    namespaces: set[str] = set()
    module = graph.module(RECORD_FILE)
    modules: list[tuple[Module, tuple[str, ...]]] = [(module, (record,))] if module is not None else []
    for path in graph.tree.walk(NAMESPACE_FOLDER):
        spaces = graph.module(path)
        if spaces is not None:
            marked = [one.qualname for one in spaces.assignments if one.qualname.endswith("._NS_PATH")]
            modules.append((spaces, tuple(one.rpartition(".")[0] for one in marked)))
    for one, owners in modules:
        for assignment in one.assignments:
            owner, _, name = assignment.qualname.rpartition(".")
            if owner not in owners:
                continue
            if name == "_NS_PATH":
                namespaces.add((assignment.value or "").strip("\"'").partition(".")[0])
            elif not name.startswith("_") and (assignment.annotation or _is_derived(assignment.value)):
                names.add(name)
            for space in re.findall(r"""NS\(\s*["'](\w+)""", assignment.annotation or ""):
                namespaces.add(space)
    return Fields(frozenset(names), frozenset(namespaces), record)


def _is_derived(value: str | None) -> bool:
    return value is not None and value.startswith("Derived(")


@dataclass
class Reader:
    """Tells which fields a function's expressions mean.

    ``aliases`` are the local names that stand for the record or a view of it (``self`` in its own
    methods). ``attributes`` are the fields that attributes of ``self`` were set from.
    """

    fields: Fields
    function: Function
    aliases: set[str] = field(default_factory=set)
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _chains: dict[tuple[str, bool], str | None] = field(default_factory=dict)
    _locals: dict[tuple[str, bool], tuple[str, ...]] = field(default_factory=dict)

    def is_record(self, text: str) -> bool:
        """Return whether an expression's text is the record or a view of it."""
        if text in self.aliases or (text.isidentifier() and self._view_local(text)):
            return True
        bare = re.sub(r"\(.*\)$", "()", text)
        last = bare.rpartition(".")[2]
        return bool(_RECORDS.match(last) or (_VIEW.search(last) and bare != text.replace("()", "")))

    def field_of(self, chain: str, second_order: bool = False) -> str | None:
        """Return the field a dotted read means, with the path inside it for a nested object."""
        parts = chain.split(".")
        for index in range(1, len(parts)):
            name = re.sub(r"\(\)$|\[.*\]$|\[\]$", "", parts[index])
            if name in self.fields.names and self._owns(parts[:index]):
                rest = parts[index + 1 :]
                return ".".join([name, *rest])
        return self._copied(parts) if second_order else None

    def _copied(self, parts: list[str]) -> str | None:
        """Return the field that an attribute of a start-up object was copied from, by its name."""
        owners = {"self", "cls", "runner", "model_runner", "target_worker", "scheduler"}
        index = next((at for at, part in enumerate(parts) if part not in owners), 0)
        name = parts[index].removesuffix("_str") if index else ""
        return name if name in self.fields.names else None

    def _owns(self, parts: list[str]) -> bool:
        last = parts[-1]
        if len(parts) == 1 and last in self.aliases:
            return True
        if _RECORDS.match(last) or _VIEW.search(last):
            return True
        getter = _NAMESPACE_GETTER.match(parts[0])
        if getter is not None and getter.group(1) in self.fields.namespaces:
            return True
        return len(parts) == 1 and self._view_local(last)

    def _view_local(self, name: str) -> bool:
        definitions = self.function.definitions.get(name, ())
        return any(one.expr.text != name and self._is_view(one.expr) for one in definitions)

    def _is_view(self, expr: Expr) -> bool:
        text = expr.text
        if text in self.aliases or (not text.isidentifier() and self.is_record(text)):
            return True
        getter = _NAMESPACE_GETTER.match(text.partition(".")[0])
        return getter is not None and getter.group(1) in self.fields.namespaces

    def target(self, chain: str) -> str | None:
        """Return the field that a store into ``chain`` changes, following local names of nested parts."""
        for _ in range(_LONGEST_CHASE):
            if (name := self.field_of(chain)) is not None:
                return name
            root, _, rest = chain.partition(".")
            origin = self._origin(self.function.definitions.get(root, ()))
            if origin is None or not rest:
                return None
            chain = f"{origin}.{rest}"
        return None

    @staticmethod
    def _origin(definitions: list[Definition] | tuple[()]) -> str | None:
        """Return the chain a local was taken from: ``x = a.b`` or ``x = copy.deepcopy(a.b)``."""
        for one in definitions:
            expr = one.expr
            if expr.text in expr.chains:
                return expr.text
            if len(expr.calls) == 1 and _COPIES.match(expr.calls[0]):
                inner = [chain for chain in expr.chains if chain != expr.calls[0]]
                return inner[0] if inner else next(iter(expr.names), None)
        return None

    def chased(self, expr: Expr, depth: int = 0) -> list[Expr]:
        """Return an expression and those its local names were set from."""
        found = [expr]
        for name in expr.names if depth < _LONGEST_CHASE else ():
            for definition in self.function.definitions.get(name, ())[:_MOST_DEFINITIONS]:
                if definition.expr is not expr:
                    found.extend(self.chased(definition.expr, depth + 1))
        return found

    def fields_in(self, expr: Expr | None, second_order: bool = False) -> list[str]:
        """Return the fields an expression reads, local names followed to what they were set from."""
        if expr is None:
            return []
        found = dict.fromkeys(self._direct(expr, second_order))
        for name in expr.names:
            found.update(dict.fromkeys(self._of_local(name, second_order)))
        return list(found)

    def _direct(self, expr: Expr, second_order: bool) -> list[str]:
        names = (self._known_field(chain, second_order) for chain in expr.chains)
        found = [name.partition(".")[0] for name in names if name is not None]
        for chain in expr.chains if self.attributes else ():
            owner, _, rest = chain.partition(".")
            if owner == "self":
                found.extend(self.attributes.get(rest.partition(".")[0].rstrip("()[]"), ()))
        return found

    def _known_field(self, chain: str, second_order: bool) -> str | None:
        if (chain, second_order) not in self._chains:
            self._chains[chain, second_order] = self.field_of(chain, second_order)
        return self._chains[chain, second_order]

    def _of_local(self, name: str, second_order: bool) -> tuple[str, ...]:
        if (name, second_order) not in self._locals:
            self._locals[name, second_order] = ()  # a local set from itself adds nothing
            found: dict[str, None] = {}
            for definition in self.function.definitions.get(name, ())[:_MOST_DEFINITIONS]:
                for expr in (definition.expr, *(atom.expr for atom in definition.guard)):
                    found.update(dict.fromkeys(self.fields_in(expr, second_order)))
            self._locals[name, second_order] = tuple(found)
        return self._locals[name, second_order]
