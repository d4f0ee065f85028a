"""Helper calls in guards and values: their names, and the fields they read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from indexer.extract.rules.facts import Expr, Function
from indexer.extract.rules.fields import Fields, Reader
from indexer.extract.rules.program import Key, Program
from indexer.record_names import RECORD_NAMES, VIEW_FUNCTIONS, VIEW_METHODS

_PLAIN = {
    "abs",
    "all",
    "any",
    "append",
    "bool",
    "copy",
    "deepcopy",
    "dict",
    "endswith",
    "exists",
    "float",
    "format",
    "frozenset",
    "get",
    "getattr",
    "hasattr",
    "index",
    "int",
    "is_file",
    "isdigit",
    "isinstance",
    "items",
    "join",
    "keys",
    "len",
    "list",
    "lower",
    "lstrip",
    "max",
    "min",
    "print",
    "range",
    "replace",
    "round",
    "rstrip",
    "set",
    "sorted",
    "split",
    "startswith",
    "str",
    "strip",
    "sum",
    "super",
    "tuple",
    "type",
    "upper",
    "values",
}
"""Built-ins and methods of strings, dicts and paths: no helpers of the tree."""
_RECORD_PARAMETERS = RECORD_NAMES | {"config", "sa"}
_MODEL_CONFIG = re.compile(r"(hf|model|text)_config(_of)?(\(\))?$")
"""What builds the model's configuration reads many fields, and says nothing about any of them."""
_DEEPEST = 2
_MOST_FIELDS = 8
"""A helper that reads more builds a whole model configuration: it tells nothing about one rule."""


class Helpers:
    """Follows helper predicates for the fields they read."""

    def __init__(self, program: Program, fields: Fields) -> None:
        self._program = program
        self._fields = fields
        self._memo: dict[tuple[Key, int], frozenset[str]] = {}

    def names(self, exprs: Iterable[Expr]) -> list[str]:
        """Return the helper callees of expressions: no built-ins, no string and dict methods."""
        found = (callee for expr in exprs for callee in expr.calls)
        return list(dict.fromkeys(one for one in found if one.rpartition(".")[2] not in _PLAIN))

    def fields(self, key: Key, function: Function, callees: Iterable[str], depth: int = 0) -> set[str]:
        """Return the fields that the bodies of these callees read."""
        found: set[str] = set()
        for callee in callees:
            if _MODEL_CONFIG.search(callee):
                continue
            for target in self._program.function_value(key, function, callee):
                read = self._of(target, depth)
                if len(read) <= _MOST_FIELDS:
                    found |= read
        return found

    def bodies(
        self, key: Key, function: Function, exprs: Iterable[Expr], depth: int = 0
    ) -> Iterator[tuple[str, str]]:
        """Yield what stands for calls of helpers that only return an expression of the record:
        ``("is_wide(cfg)", "cfg.tp_size > 1")``, or ``("self.is_wide()", "self.tp_size > 1")``."""
        for callee in self.names(exprs):
            targets = self._program.function_value(key, function, callee)
            name = callee.rpartition(".")[2]
            if len(targets) != 1 or name in (*VIEW_FUNCTIONS, *VIEW_METHODS) or _MODEL_CONFIG.search(callee):
                continue
            versions = self._program.at(targets[0])
            returned = _returned(versions[0]) if len(versions) == 1 else None
            if returned is None or not 0 < len(self._of(targets[0], depth)) <= _MOST_FIELDS:
                continue
            (parameter,) = versions[0].parameters
            owner = self._program.owner(targets[0])
            if parameter == "self" and (owner is None or owner.qualname != self._fields.record):
                continue
            yield f"{callee}({parameter if parameter != 'self' else ''})", returned.text
            if depth < _DEEPEST:
                yield from self.bodies(targets[0], versions[0], [returned], depth + 1)

    def _of(self, key: Key, depth: int) -> frozenset[str]:
        if (key, depth) not in self._memo:
            self._memo[key, depth] = frozenset()  # a recursive helper adds nothing of its own
            self._memo[key, depth] = frozenset(self._read(key, depth))
        return self._memo[key, depth]

    def _read(self, key: Key, depth: int) -> set[str]:
        found: set[str] = set()
        owner = self._program.owner(key)
        for function in self._program.at(key):
            aliases = set(function.parameters) & _RECORD_PARAMETERS
            if owner is not None and owner.qualname == self._fields.record:
                aliases.add("self")
            reader = Reader(self._fields, function, aliases)
            exprs = list(_expressions(function))
            for expr in exprs:
                found.update(reader.fields_in(expr))
            if depth < _DEEPEST:
                found |= self.fields(key, function, self.names(exprs), depth + 1)
        return found


def _returned(function: Function) -> Expr | None:
    """Return the expression of its one parameter, the record, that a function does nothing but return."""
    if len(function.effects) != 1 or function.definitions or len(function.parameters) != 1:
        return None
    (effect,) = function.effects
    is_record = function.parameters[0] in {"self", *RECORD_NAMES}
    return effect.values[0] if effect.kind == "value" and not effect.guard and is_record else None


def _expressions(function: Function) -> Iterable[Expr]:
    for effect in function.effects:
        yield from effect.values
        for atom in effect.guard:
            yield atom.expr
    for definitions in function.definitions.values():
        for one in definitions:
            yield one.expr
