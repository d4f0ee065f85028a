"""Values on their way into fields: dicts of decisions, accumulating locals, helpers' results."""

from __future__ import annotations

import ast
import re

import msgspec

from indexer.extract.rules.facts import CallSite, Effect, Function
from indexer.extract.rules.fields import Reader
from indexer.extract.rules.program import Key
from indexer.extract.rules.reach import Edge, Reach, Reached

_UPDATED = re.compile(r"\.update$")
_PHASE = re.compile(r"^[A-Z]\w*\.([A-Z_]+)$")
_CONSTANT = re.compile(r"""^(["'].*["']|-?\d[\d.]*|True|False|None)$""")
_PARAMETER = re.compile(r"^\{(\w+)\}$")
_MOST_SOURCES = 3
_DEEPEST = 5


def _text(literal: str | None) -> str | None:
    """Return the value of a string literal's text."""
    try:
        value = ast.literal_eval(literal or "None")
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


class Flows:
    """Tells which fields a dict, a local or a returned value ends in."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._fields = reach.fields.names
        self._attributes: dict[Key, dict[str, tuple[str, ...]]] = {}

    def decided(self, node: Reached, effect: Effect) -> tuple[str, ...]:
        """Return the fields that an effect other than a store decides; none if it decides nothing."""
        match effect.kind:
            case "declare":
                return self._declared(effect)
            case "item":
                return self._known(effect) if self._leaves(node, effect.container or "") else ()
            case "result":
                return self._known(effect) if node.gives_fields else ()
            case "table":
                return self._known(effect)
            case "accumulate":
                return self._ends_in(node, effect.container or "")
            case "value":
                return self._asked_for(node, effect)
        return ()

    def variants(self, node: Reached, effect: Effect) -> list[Effect]:
        """Return the effect once per message that callers hand in, or alone where it has its own."""
        handed = _PARAMETER.match(effect.message or "")
        if handed is None or handed.group(1) not in node.function.parameters:
            return [effect]
        found: dict[str, Effect] = {}
        for edge in node.edges:
            message = _text(edge.literals.get(handed.group(1)))
            if message:
                given = {name: text for name, text in edge.literals.items() if _text(text) in self._fields}
                found.setdefault(
                    message,
                    msgspec.structs.replace(effect, message=message, bindings={**effect.bindings, **given}),
                )
        return list(found.values()) or [effect]

    def attributes(self, key: Key) -> dict[str, tuple[str, ...]]:
        """Return the fields that the attributes of a method's object were set from."""
        path, name = key
        owner = name.rpartition(".")[0]
        if not owner:
            return {}
        if (path, owner) not in self._attributes:
            found: dict[str, set[str]] = {}
            for other in self._reach.program.methods(path, owner):
                reader = Reader(self._reach.fields, other)
                for effect in other.effects:
                    if effect.kind != "store":
                        continue
                    for target, value in zip(effect.targets, effect.values, strict=True):
                        if target.startswith("self.") and target.count(".") == 1:
                            found.setdefault(target[5:], set()).update(reader.fields_in(value))
            few = {
                one: tuple(sorted(fields)) for one, fields in found.items() if len(fields) <= _MOST_SOURCES
            }
            self._attributes[path, owner] = {one: fields for one, fields in few.items() if fields}
        return self._attributes[path, owner]

    def overridable(self, edge: Edge) -> bool:
        """Return whether a step is run by a function that looks for replacements in a registry."""
        if edge.kind != "hook" or edge.call is None or edge.caller is None:
            return False
        nodes = self._reach.reached.get(edge.caller, [])
        return any(
            self._reach.program.globals_of(target, depth=1)
            for node in nodes
            for target in self._reach.program.function_value(node.key, node.function, edge.call.callee)
        )

    # -- dicts -------------------------------------------------------------------------------------

    def _known(self, effect: Effect) -> tuple[str, ...]:
        return effect.targets if effect.targets and set(effect.targets) <= self._fields else ()

    def _declared(self, effect: Effect) -> tuple[str, ...]:
        if not self._known(effect):
            return ()
        parts = zip(effect.targets, effect.values, strict=True)
        return tuple(nested for name, value in parts for nested in self._nested(name, value.text))

    def _nested(self, name: str, value: str) -> list[str]:
        """Return ``config.phase.key`` for ``name=f(config, Phase.X, key=...)``, else the field."""
        call = re.match(r"^\w+\((.*)\)$", value)
        if call is None:
            return [name]
        arguments = [part.strip() for part in call.group(1).split(",")]
        phase = next((found.group(1) for part in arguments if (found := _PHASE.match(part))), None)
        keys = [
            key
            for part in arguments
            if (key := part.partition("=")[0].strip()) != part and key.isidentifier()
        ]
        if phase is None or not keys or not any(part.rpartition(".")[2] == name for part in arguments):
            return [name]
        return [f"{name}.{phase.lower()}.{key}" for key in keys]

    def _leaves(self, node: Reached, container: str) -> bool:
        """Return whether a local dict is returned as decisions, declared, or merged into one that is."""
        function = node.function
        for effect in function.effects:
            if effect.kind == "unpack" and effect.container == container:
                return True
            if effect.kind == "value" and node.gives_fields and effect.values[0].text == container:
                return True
            if effect.kind == "value" and node.gives_fields and container in effect.values[0].names:
                return True
        return any(
            _UPDATED.search(call.callee)
            and any(argument.expr.text == container for argument in call.arguments)
            and call.callee != f"{container}.update"
            and self._leaves(node, call.callee.rpartition(".")[0])
            for call in function.calls
        )

    # -- locals ------------------------------------------------------------------------------------

    def _ends_in(self, node: Reached, local: str) -> tuple[str, ...]:
        """Return the fields whose value is computed from a local."""
        found: dict[str, None] = {}
        for effect in node.function.effects:
            if effect.kind == "store":
                targets = [node.reader.target(one) for one in effect.targets]
            elif effect.kind == "declare":
                targets = list(self._known(effect))
            else:
                continue
            for target, value in zip(targets, effect.values, strict=True):
                if target is not None and self._depends(node.function, set(value.names), local, 0):
                    found[target] = None
        return tuple(found)

    def _depends(self, function: Function, names: set[str], local: str, depth: int) -> bool:
        if local in names:
            return True
        if depth >= _DEEPEST:
            return False
        further = {
            name for one in names for each in function.definitions.get(one, ()) for name in each.expr.names
        } - names
        return bool(further) and self._depends(function, further, local, depth + 1)

    # -- helpers' results --------------------------------------------------------------------------

    def _asked_for(self, node: Reached, effect: Effect) -> tuple[str, ...]:
        """Return the fields that callers set to a constant which this function returns."""
        value = effect.values[0]
        if not _CONSTANT.match(value.text) and not re.match(r"^\(?-?\d+(, -?\d+)+\)?$", value.text):
            return ()
        found: dict[str, None] = {}
        for edge in node.edges:
            if edge.call is not None and edge.caller is not None and edge.kind == "call":
                for caller in self._reach.reached.get(edge.caller, ()):
                    found.update(dict.fromkeys(self._destination(caller, edge.call, node.key)))
        return tuple(found)

    def _destination(self, caller: Reached, call: CallSite, callee: Key, depth: int = 0) -> list[str]:
        function = caller.function
        if call.role == "returned" and depth < 2:
            return [
                name
                for edge in caller.edges
                if edge.call is not None and edge.caller is not None and edge.kind == "call"
                for outer in self._reach.reached.get(edge.caller, ())
                for name in self._destination(outer, edge.call, caller.key, depth + 1)
            ]
        inside = [effect for effect in function.effects if effect.line <= call.line <= effect.end_line]
        if call.role == "keyword":
            return [
                call.result_name or ""
                for effect in inside
                if effect.kind == "declare" and call.result_name in self._known(effect)
            ]
        if call.role != "assigned" or call.result_name is None:
            return []
        stored = [
            name
            for effect in inside
            if effect.kind == "store"
            for one in effect.targets
            if (name := caller.reader.target(one)) is not None
        ]
        return stored or self._from_local(caller, call.result_name)

    def _from_local(self, caller: Reached, written: str) -> list[str]:
        """Return the fields a local is given to as it is."""
        locals_ = {part.strip(" ()") for part in written.split(",")}
        found = []
        for effect in caller.function.effects:
            if effect.kind == "store":
                targets = [caller.reader.target(one) for one in effect.targets]
            elif effect.kind == "declare" or (effect.kind in ("result", "item") and caller.gives_fields):
                targets = list(self._known(effect))
            else:
                continue
            for target, value in zip(targets, effect.values, strict=False):
                if target is not None and value.text in locals_:
                    found.append(target)
        return found
