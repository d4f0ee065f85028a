"""What the resolver's entry and the start-up code reach, in the order in which it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from indexer.extract.rules.facts import Argument, Atom, CallSite, Effect, Expr, Function
from indexer.extract.rules.fields import Fields, Reader
from indexer.extract.rules.program import Key, Program
from indexer.extract.rules.stages import (
    CHECKING,
    CHECKS,
    PARSING,
    PARSING_FUNCTION,
    PARSING_METHODS,
    RECORD,
    RECORD_FILE,
    RESOLVER,
    RESOLVER_FILES,
    RESOLVING_METHODS,
    STAGES,
    Stage,
    stage_of,
)

_DEEPEST = 40
_RECORD_STAGES = (PARSING, RESOLVER, CHECKS, RECORD)
_OF_START_UP = re.compile(r"^_?(server_args|runner|model_runner|model_config|target_worker|tp_worker)$")


@dataclass
class Edge:
    """One way into a function. ``literals`` are the constant arguments by parameter name.

    ``registered_in`` is the file of a provider, whose guard is written on itself, not at its caller.
    """

    kind: str
    caller: Key | None = None
    call: CallSite | None = None
    guard: tuple[Atom, ...] = ()
    literals: dict[str, str] = field(default_factory=dict)
    registered_in: str | None = None

    @property
    def guard_path(self) -> str:
        """The file that the guard's lines are in."""
        return self.registered_in or (self.caller[0] if self.caller is not None else "")


@dataclass
class Reached:
    """A reached function. ``whole`` is False for a helper of which only refusals and logs count.

    ``gives_fields`` says that the dict it returns is a set of decisions.
    """

    key: Key
    function: Function
    reader: Reader
    stage: str
    whole: bool
    edges: list[Edge] = field(default_factory=list)
    gives_fields: bool = False
    order: dict[int, int] = field(default_factory=dict)


class Reach:
    """A depth-first walk over the resolver and the start-up code."""

    def __init__(self, program: Program, fields: Fields) -> None:
        self.program = program
        self.fields = fields
        self.reached: dict[Key, list[Reached]] = {}
        self._counter = 0
        self._providers: list[tuple[Key, Function, frozenset[str]]] = []

    def run(self) -> dict[Key, list[Reached]]:
        """Walk everything; return the reached functions by key, in the order of first contact."""
        self._providers = self.program.registered()
        for key in self._parsing():
            self._root(key, PARSING)
        for method in RESOLVING_METHODS:
            self._root((RECORD_FILE, f"{self.fields.record}.{method}"), RESOLVER)
        for key in self._checking():
            self._root(key, CHECKS)
        for stage in STAGES:
            for path, functions in self.program.loaded():
                if stage.covers(path):
                    for name in functions:
                        if self._starts(stage, (path, name)):
                            self._root((path, name), stage.name)
        for path, functions in self.program.loaded():
            if path.startswith(RESOLVER_FILES):
                for name in functions:
                    if name and (path, name) not in self.reached:
                        self._root((path, name), RECORD)  # properties, and what plugins or readers call
        return self.reached

    def _parsing(self) -> Iterator[Key]:
        """Yield what runs while the command line is read: the record's own methods, argparse actions."""
        for method in PARSING_METHODS:
            yield RECORD_FILE, f"{self.fields.record}.{method}"
        for path, functions in self.program.loaded():
            if path.startswith(RESOLVER_FILES):
                for name in functions:
                    if name.endswith(".__call__") or (path == RECORD_FILE and name == PARSING_FUNCTION):
                        yield path, name

    def _checking(self) -> Iterator[Key]:
        for path, functions in self.program.loaded():
            if path == RECORD_FILE or path.startswith(RESOLVER_FILES):
                for name in functions:
                    if name.rpartition(".")[2] == CHECKING:
                        yield path, name

    def _starts(self, stage: Stage, key: Key) -> bool:
        versions = self.program.at(key)
        name = key[1].rpartition(".")[2]
        if not name:
            return False
        if stage.whole or name == "__init__":
            return True
        return any(_OF_START_UP.match(parameter) for one in versions for parameter in one.parameters)

    # -- walking -----------------------------------------------------------------------------------

    def _root(self, key: Key, stage: str) -> None:
        if self.program.at(key) and key not in self.reached:
            self._enter(key, Edge("root"), stage, whole=True, aliases=frozenset(), depth=0)

    def _enter(
        self, key: Key, edge: Edge, stage: str, whole: bool, aliases: frozenset[str], depth: int
    ) -> None:
        known = self.reached.get(key)
        if known is not None:
            for node in known:
                node.edges.append(edge)
                node.reader.aliases |= aliases
                node.gives_fields = node.gives_fields or edge.kind in ("hook", "provider", "decisions")
            if not whole or all(node.whole for node in known):
                return
        nodes = known or []
        if known is None:
            owner = self.program.owner(key)
            own = frozenset({"self"} if owner is not None and owner.qualname == self.fields.record else ())
            for function in self.program.at(key):
                reader = Reader(self.fields, function, set(aliases | own))
                gives = edge.kind in ("hook", "provider", "decisions")
                nodes.append(Reached(key, function, reader, stage, whole, [edge], gives))
            self.reached[key] = nodes
        for node in nodes:
            node.whole = node.whole or whole
            self._walk(node, depth)

    def _walk(self, node: Reached, depth: int) -> None:
        events: list[tuple[int, int, Effect | CallSite]] = [
            (effect.line, index, effect) for index, effect in enumerate(node.function.effects)
        ]
        # A call inside a statement runs before the statement's own effect.
        events.extend((call.line, -1, call) for call in node.function.calls)
        events.sort(key=lambda item: (item[0], item[1]))
        for _, index, event in events:
            if any(atom.how == "loop" and atom.expr.text == "True" for atom in event.guard):
                continue  # the endless loop of a process: it serves, the launch is over
            if isinstance(event, Effect):
                self._counter += 1
                node.order.setdefault(index, self._counter)
            elif depth < _DEEPEST:
                self._follow(node, event, depth)
        if node.stage in _RECORD_STAGES and depth < _DEEPEST:
            self._provide(node, depth)

    def _provide(self, node: Reached, depth: int) -> None:
        used = set(node.function.globals)
        if not used:
            return
        registrars = {"register", "decorator"}
        if any(word in node.key[1].lower() for word in registrars):
            return
        for key, function, filled in self._providers:
            if filled & used and key != node.key:
                guard = tuple(_registration(function))
                edge = Edge("provider", node.key, None, guard, registered_in=key[0])
                first = frozenset(function.parameters[:1])
                self._enter(key, edge, node.stage, True, first, depth + 1)

    def _follow(self, node: Reached, call: CallSite, depth: int) -> None:
        has_record = any(node.reader.is_record(one.expr.text) for one in call.arguments)
        receiver = call.callee.rpartition(".")[0]
        on_record = bool(receiver) and node.reader.is_record(receiver)
        if on_record and receiver != "self":
            name = f"{self.fields.record}.{call.callee.rpartition('.')[2]}"
            targets = [(RECORD_FILE, name)] if self.program.at((RECORD_FILE, name)) else []
        else:
            targets = self.program.targets(node.key, node.function, call)
        for target in targets:
            self._take(node, call, target, "call", has_record or on_record, depth)
        if has_record:
            for argument in call.arguments:
                if argument.name in (None, "resolve") and not argument.literal:
                    for target in self.program.function_value(node.key, node.function, argument.expr.text):
                        self._take(node, call, target, "hook", True, depth)

    def _take(
        self, node: Reached, call: CallSite, target: Key, kind: str, has_record: bool, depth: int
    ) -> None:
        whole = self._whole(node, target, has_record)
        if whole is None or not (versions := self.program.at(target)):
            return
        function = versions[0]
        parameters = list(function.parameters)
        is_method = self.program.owner(target) is not None and parameters[:1] in (["self"], ["cls"])
        if is_method:
            parameters = parameters[1:]
        given = {} if kind == "hook" else _assign(parameters, call.arguments)
        aliases = {name for name, argument in given.items() if node.reader.is_record(argument.expr.text)}
        if kind == "hook":
            aliases |= set(parameters[:1])
        literals = {name: argument.expr.text for name, argument in given.items() if argument.literal}
        for name, default in function.defaults.items():
            if kind != "hook" and name not in given:
                literals[name] = default
        gives = kind == "call" and self._is_decision(node, call)
        edge = Edge("decisions" if gives else kind, node.key, call, call.guard, literals)
        self._enter(target, edge, node.stage, whole, frozenset(aliases), depth + 1)

    def _whole(self, node: Reached, target: Key, has_record: bool) -> bool | None:
        """Return how to follow a call: whole, as a helper (False), or not at all (None)."""
        path = target[0]
        if path == RECORD_FILE or path.startswith(RESOLVER_FILES):
            return True if node.whole else None
        if node.stage in _RECORD_STAGES:
            if not node.whole:
                return None
            return has_record or (node.key[0] == path and self._same_owner(node.key, target))
        if not node.whole:
            return None
        if stage_of(path) is not None:
            return True
        return None

    def _same_owner(self, one: Key, other: Key) -> bool:
        return "." in one[1] and one[1].rpartition(".")[0] == other[1].rpartition(".")[0]

    @staticmethod
    def _is_decision(node: Reached, call: CallSite) -> bool:
        """Return whether the dict a call gives becomes decisions: ``**f()``, or returned by such."""
        return call.role == "unpacked" or (call.role == "returned" and node.gives_fields)


def _assign(parameters: list[str], arguments: tuple[Argument, ...]) -> dict[str, Argument]:
    given: dict[str, Argument] = {}
    position = 0
    for argument in arguments:
        if argument.name == "*":
            position = len(parameters)
        elif argument.name is None:
            if position < len(parameters):
                given[parameters[position]] = argument
            position += 1
        elif argument.name in parameters:
            given[argument.name] = argument
    return given


def _registration(function: Function) -> Iterator[Atom]:
    """Yield the condition a registering decorator puts on a provider: names, or a predicate."""
    for decorator in function.decorators:
        _, bracket, inside = decorator.text.partition("(")
        if not bracket:
            continue
        inside = inside.rpartition(")")[0].strip().rstrip(",")
        text = (
            inside.partition(":")[2].strip().removeprefix("(").removesuffix(")").strip()
            if inside.startswith("lambda")
            else f"architecture in ({inside})"
        )
        yield Atom(Expr(text, decorator.chains, (), (), decorator.strings), True, function.line, "provider")
