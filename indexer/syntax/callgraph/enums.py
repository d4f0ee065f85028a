"""Predicates of enum-like classes: for which members does ``x.is_extend()`` hold?

Two shapes are read: an ``Enum`` whose predicates compare ``self`` with members, and a registry class
whose predicates test a flag that ``register…("NAME", flags=(…))`` sets at module level.
"""

from __future__ import annotations

from indexer.syntax.callgraph.expressions import Expr, arguments, last_name, parse
from indexer.syntax.callgraph.symbols import Class, Function, Symbols

Members = dict[str, bool | None]


class EnumTable:
    """The members of one class and, for each predicate, whether it holds per member."""

    def __init__(self, symbols: Symbols, cls: Class) -> None:
        self.cls = cls
        self._registered = _registrations(cls)
        declared = [
            store.target
            for store in cls.scope.stores
            if store.target.isupper() or (store.target.isidentifier() and store.value == "auto()")
        ]
        self.members = tuple(dict.fromkeys([*declared, *self._registered]))
        self.predicates: dict[str, Members] = {}
        for name, methods in cls.methods.items():
            if name.startswith(("is_", "supports_", "has_", "need", "carries_", "uses_")):
                held = {member: self._holds(methods[0], member, 0) for member in self.members}
                if any(value is not None for value in held.values()):
                    self.predicates[name] = held

    def _holds(self, method: Function, member: str, depth: int) -> bool | None:
        if depth > 5:
            return None
        defaults = {p.name: parse(p.default) for p in method.scope.parameters if p.default}
        guards = method.module.facts.guards
        for entry in method.scope.returns:
            index, reached = entry.guard, True
            while index >= 0 and guards[index].line >= method.scope.line:
                value = self._value(parse(guards[index].text), member, defaults, depth)
                if value is None:
                    return None
                reached = reached and value == guards[index].holds
                index = guards[index].parent
            if reached:
                return self._value(parse(entry.value), member, defaults, depth)
        return None

    def _value(self, expr: Expr, member: str, defaults: dict[str, Expr], depth: int) -> bool | None:
        kind = expr[0]
        if kind == "const":
            return bool(expr[1])
        if kind == "name" and expr[1] in defaults:
            return self._value(defaults[expr[1]], member, {}, depth)
        if kind == "not":
            return negate(self._value(expr[1], member, defaults, depth))
        if kind == "bool":
            return combine(expr[1], [self._value(item, member, defaults, depth) for item in expr[2]])
        if kind == "cmp" and len(expr[1]) == 1 and expr[2][0] == ("name", "self"):
            named = self._named(expr[2][1])
            if named is not None:
                return (member in named) != (expr[1][0] in ("!=", "is not", "not in"))
        if kind == "call" and expr[1][0] == "attr" and expr[1][1] == ("name", "self"):
            if expr[1][2] == "_has_flag" and expr[2] and expr[2][0][1][0] == "str":
                return expr[2][0][1][1] in self._registered.get(member, ())
            for method in self.cls.methods.get(expr[1][2], ())[:1]:
                return self._holds(method, member, depth + 1)
        return None

    def _named(self, expr: Expr) -> set[str] | None:
        items = expr[2] if expr[0] == "seq" else (expr,)
        names = {last_name(item) for item in items}
        return names if names <= set(self.members) else None


def _registrations(cls: Class) -> dict[str, tuple[str, ...]]:
    """Return name → flags of ``register…("NAME", …, flags=("A", "B"))`` calls beside the class."""
    found: dict[str, tuple[str, ...]] = {}
    for call in cls.module.facts.scopes[0].calls:
        if "register" not in call.callee:
            continue
        args = arguments(call.arguments)
        if args and args[0][0] == "" and args[0][1][0] == "str":
            flags = next((expr for keyword, expr in args if keyword == "flags"), ("seq", "tuple", ()))
            items = flags[2] if flags[0] == "seq" else ()
            found[args[0][1][1]] = tuple(item[1] for item in items if item[0] == "str")
    return found


def negate(value: bool | None) -> bool | None:
    """Three-valued not."""
    return None if value is None else not value


def combine(operator: str, values: list[bool | None]) -> bool | None:
    """Three-valued and/or."""
    decisive = operator == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive
