"""What a path takes for granted, and what that says about a guard: holds, does not hold, unknown.

An assumption speaks about the last name of an atom: ``_is_npu`` and ``is_npu()`` alike.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from indexer.syntax.callgraph.enums import EnumTable, combine, negate
from indexer.syntax.callgraph.expressions import Expr, last_name, parse
from indexer.syntax.callgraph.symbols import Function, Module


class Assumptions:
    """``names`` maps a name pattern to its truth; ``members`` an enum's class name to one member,
    ``values`` a name to its value in comparisons with a constant."""

    def __init__(
        self,
        names: dict[str, bool],
        tables: dict[str, EnumTable] | None = None,
        members: dict[str, str] | None = None,
        values: dict[str, object] | None = None,
    ) -> None:
        self.names = {name: truth for name, truth in names.items() if not set(name) & set("*?[")}
        self.patterns = [(name, truth) for name, truth in names.items() if name not in self.names]
        self.tables = tables or {}
        self.members = members or {}
        self.values = values or {}
        self._predicates: dict[str, bool | None] = {}
        for enum, member in self.members.items():
            if enum in self.tables:
                for name, held in self.tables[enum].predicates.items():
                    self._predicates[name] = held.get(member)
        self._seen: dict[tuple[str, int], bool | None] = {}

    def with_mode(self, enum: str, member: str | None, names: dict[str, bool]) -> Assumptions:
        """Return these assumptions with another member of one enum, and further names."""
        members = dict(self.members)
        if member is None:
            members.pop(enum, None)
        else:
            members[enum] = member
        return Assumptions({**self.names, **dict(self.patterns), **names}, self.tables, members, self.values)

    def guard(self, module: Module, index: int) -> bool | None:
        """Return whether a guard and all around it hold: False if any certainly does not."""
        if index < 0:
            return True
        key = (module.name, index)
        if key not in self._seen:
            entry = module.facts.guards[index]
            function = module.function_at(entry.line)
            own = self.truth(parse(entry.text), function)
            if own is not None:
                own = own == entry.holds
            self._seen[key] = combine("and", [own, self.guard(module, entry.parent)])
        return self._seen[key]

    def truth(self, expr: Expr, function: Function | None = None) -> bool | None:
        """Return what the assumptions say about an expression; ``function`` resolves its local names."""
        kind = expr[0]
        if kind == "const":
            return bool(expr[1])
        if kind == "not":
            return negate(self.truth(expr[1], function))
        if kind == "bool":
            return combine(expr[1], [self.truth(item, function) for item in expr[2]])
        if kind == "cmp":
            return self._comparison(expr)
        if kind in ("name", "attr"):
            known = self._named(last_name(expr))
            return known if known is not None or kind == "attr" else self._local(expr[1], function)
        if kind == "call":
            return self._call(expr)
        return None

    def _local(self, name: str, function: Function | None) -> bool | None:
        """Return the truth of a local that is stored once, by the expression stored."""
        stores = function.local_stores.get(name, ()) if function is not None else ()
        if len(stores) != 1 or stores[0][1] or stores[0][0].kind != "=" or not stores[0][0].value:
            return None
        return self.truth(parse(stores[0][0].value))

    def _named(self, name: str) -> bool | None:
        if name in self.names:
            return self.names[name]
        for pattern, truth in self.patterns:
            if fnmatchcase(name, pattern):
                return truth
        return None

    def _call(self, expr: Expr) -> bool | None:
        name = last_name(expr)
        known = self._named(name)
        if known is not None:
            return known
        if name in self._predicates:
            overridden = any(keyword not in ("", "*", "**") for keyword, _ in expr[2])
            return None if overridden else self._predicates[name]
        if expr[1] == ("name", "bool") and len(expr[2]) == 1:
            return self.truth(expr[2][0][1])
        return None

    def _comparison(self, expr: Expr) -> bool | None:
        operators, operands = expr[1], expr[2]
        if len(operators) != 1 or len(operands) != 2:
            return None
        operator, (left, right) = operators[0], operands
        if right == ("const", None) and operator in ("is", "is not", "==", "!="):
            known = self.truth(left) if left[0] in ("name", "attr", "call") else None
            return None if known is None else known == (operator in ("is not", "!="))
        if right[0] in ("str", "const") and operator in ("==", "!=") and last_name(left) in self.values:
            return (self.values[last_name(left)] == right[1]) == (operator == "==")
        for enum, member in self.members.items():
            named = _members_named(right, enum)
            if named is not None and self._speaks_of(enum, left):
                return (member in named) == (operator in ("==", "is", "in"))
        return None

    @staticmethod
    def _speaks_of(enum: str, expr: Expr) -> bool:
        """Whether the left side's name fits the enum: ``forward_mode`` for ``ForwardMode``."""
        name = last_name(expr).lower().replace("_", "")
        return bool(name) and (name in enum.lower() or enum.lower() in name or name.endswith("algorithm"))


def _members_named(expr: Expr, enum: str) -> set[str] | None:
    items = expr[2] if expr[0] == "seq" else (expr,)
    if items and all(item[0] == "attr" and last_name(item[1]) == enum for item in items):
        return {item[2] for item in items}
    return None
