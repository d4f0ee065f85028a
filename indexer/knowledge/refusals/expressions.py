"""Guards and values in terms of the record's fields; ``...`` stands for whatever else they ask.

``cfg.speculative_algorithm == "EAGLE" and is_hip()`` becomes ``speculative_algorithm == "EAGLE" and ...``:
equal in all layouts of SGLang, and evaluable without any of its code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from indexer.knowledge.rehearsal import ARCHITECTURE, FUNCTIONS, KINDS, METHODS
from indexer.record_names import RECORD_NAMES, VIEW_FUNCTIONS, VIEW_METHODS

UNTOLD = "..."
RECEIVERS = RECORD_NAMES | {"self"}
"""Names under which the resolver holds the record or a view of it."""
_FEW = 2
"""A model's architecture that is compared with no more names than this is a special case."""
_DEEPEST = 6
"""Local names are followed this far."""

Predicates = Mapping[str, Sequence[str]]
"""Predicate of the algorithms' enum → the spellings for which it holds."""


class Writer:
    """Writes the expressions of one rule. ``fields`` are the fields that the rule reads, ``locals_``
    what its local names stand for, and what a call of a helper does (``is_wide(cfg)``), ``record`` all
    fields there are."""

    def __init__(
        self,
        fields: frozenset[str],
        locals_: Mapping[str, str],
        predicates: Predicates | None = None,
        record: frozenset[str] = frozenset(),
    ) -> None:
        self.fields = fields
        self.record = record
        self.special = False
        self.handed = fields
        self.locals = locals_
        self.helpers = {head.partition("(")[0]: (head, text) for head, text in locals_.items() if "(" in head}
        self.predicates = predicates or {}

    def written(self, text: str, special: bool = False) -> str:
        """Return an expression in terms of fields; in a ``special`` one the model's architecture too."""
        self.special = special
        tree = _parsed(text)
        if tree is None:
            return UNTOLD
        return ast.unparse(self._expression(tree, 0))

    def _expression(self, node: ast.expr, depth: int) -> ast.expr:
        handler = _HANDLERS.get(type(node))
        return handler(self, node, depth) if handler else ast.Constant(...)

    def _constant(self, node: ast.Constant, depth: int) -> ast.expr:
        return node if node.value is None or isinstance(node.value, str | int | float) else ast.Constant(...)

    def _name(self, node: ast.Name, depth: int) -> ast.expr:
        text = self.locals.get(node.id)
        if text is None and node.id in self.handed:
            return node  # a parameter that is handed the field of its name
        if text is None or depth >= _DEEPEST:
            return ast.Constant(...)
        trees = [_parsed(one) for one in alternatives(text)]
        if len(trees) > 1:
            return self._alternatives(trees)
        return self._expression(trees[0], depth + 1) if trees[0] is not None else ast.Constant(...)

    def _alternatives(self, trees: Sequence[ast.expr | None]) -> ast.expr:
        """Write several assignments, of which any may hold. A name that is False unless a model that is
        read here is one of a few is a special case too."""
        first, *others = trees
        if not (isinstance(first, ast.Constant) and first.value is False) or None in others:
            return ast.Constant(...)
        places = sorted({place for one in others if one is not None for place in self._models_read(one, 0)})
        parts = [node for one in others if one is not None for node in ast.walk(one)]
        names = [part.value for part in parts if isinstance(part, ast.Constant) and _is_class(part.value)]
        if not places or not 0 < len(names) <= _FEW:
            return ast.Constant(...)
        needed: list[ast.expr] = [ast.parse(f"{one} is not None", mode="eval").body for one in places]
        special = ast.Compare(
            ast.Name(ARCHITECTURE), [ast.In()], [ast.Tuple([ast.Constant(one) for one in names])]
        )
        return ast.BoolOp(ast.And(), [*needed, special])

    def _models_read(self, tree: ast.expr, depth: int) -> set[str]:
        """Return the fields whose model's configuration an expression reads, through local names."""
        found = set()
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "get_config"
            ):
                place = node.args[0] if node.args else None
                found |= {place.id} & self.record if isinstance(place, ast.Name) else set()
            elif isinstance(node, ast.Name) and depth < _DEEPEST:
                local = _parsed(self.locals.get(node.id, "..."))
                found |= self._models_read(local, depth + 1) if local is not None else set()
        return found

    def _names_few_models(self, node: ast.Compare) -> bool:
        """Whether the target model's architecture is compared with one or two names: a special case."""
        if len(node.ops) != 1 or not self.special:
            return False
        try:
            names = ast.literal_eval(node.comparators[0])
        except ValueError:
            return False
        names = [names] if isinstance(names, str) else names
        few = isinstance(names, list | tuple) and 0 < len(names) <= _FEW
        return few and self._is_architecture(node.left, 0)

    def _is_architecture(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Name) and node.id in self.locals and depth < _DEEPEST:
            local = _parsed(self.locals[node.id])
            return local is not None and self._is_architecture(local, depth + 1)
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)):
            return False
        return node.value.attr == "architectures" and self._is_target(node.value.value, depth)

    def _is_target(self, node: ast.expr, depth: int) -> bool:
        """Whether an expression is the configuration of the target model, not of a draft."""
        text = ast.unparse(node)
        if isinstance(node, ast.Name) and node.id in self.locals and depth < _DEEPEST:
            text = self.locals[node.id]
        return "model_config" in text and "draft" not in text

    def _attribute(self, node: ast.Attribute, depth: int) -> ast.expr:
        return self._field(node.value, node.attr)

    def _field(self, owner: ast.expr, name: str) -> ast.expr:
        return ast.Name(name) if self._is_record(owner) and name in self.fields else ast.Constant(...)

    def _is_record(self, node: ast.expr) -> bool:
        """Whether an expression is the record or a view of it."""
        if isinstance(node, ast.Name):
            return node.id in RECEIVERS and node.id not in self.locals
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Attribute):
            return function.attr in VIEW_METHODS and self._is_record(function.value)
        return isinstance(function, ast.Name) and function.id in VIEW_FUNCTIONS

    def _helped(self, node: ast.Call, depth: int) -> ast.expr | None:
        """Write what a helper returns that is handed the record, or is a method of it; None for any other
        call. Its names are none of the caller's."""
        head, text = self.helpers.get(ast.unparse(node.func), ("", ""))
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        handed = node.args if head and not head.endswith("()") else [owner] if owner and not node.args else []
        if len(handed) != 1 or handed[0] is None or not self._is_record(handed[0]) or depth >= _DEEPEST:
            return None
        tree = _parsed(text)
        helper = Writer(self.fields, dict(self.helpers.values()), self.predicates, self.record)
        helper.handed = frozenset()
        return helper._expression(tree, depth + 1) if tree is not None else None

    def _call(self, node: ast.Call, depth: int) -> ast.expr:
        function, untold = node.func, ast.Constant(...)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            return untold
        if (helped := self._helped(node, depth)) is not None:
            return helped
        if isinstance(function, ast.Attribute):
            if function.attr in self.predicates and not node.args:
                names = ast.Tuple([ast.Constant(name) for name in self.predicates[function.attr]])
                return ast.Compare(ast.Name("speculative_algorithm"), [ast.In()], [names])
            if function.attr not in METHODS:
                return untold
            owner = self._expression(function.value, depth)
            arguments = [self._expression(one, depth) for one in node.args]
            return (
                untold if _is_untold(owner) else ast.Call(ast.Attribute(owner, function.attr), arguments, [])
            )
        if not isinstance(function, ast.Name):
            return untold
        if function.id == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
            return self._field(node.args[0], str(node.args[1].value))
        if function.id == "isinstance" and len(node.args) == 2 and _is_kind(node.args[1]):
            return ast.Call(ast.Name("isinstance"), [self._expression(node.args[0], depth), node.args[1]], [])
        if function.id in FUNCTIONS and len(node.args) == 1:
            return ast.Call(ast.Name(function.id), [self._expression(node.args[0], depth)], [])
        return untold

    def _operation(self, node: ast.expr, depth: int) -> ast.expr:
        """Write an operation by writing its operands."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self._expression(one, depth) for one in node.values])
        if isinstance(node, ast.UnaryOp):
            operand = self._expression(node.operand, depth)
            return operand if _is_untold(operand) else ast.UnaryOp(node.op, operand)
        if isinstance(node, ast.BinOp):
            sides = [self._expression(one, depth) for one in (node.left, node.right)]
            return (
                ast.Constant(...) if any(map(_is_untold, sides)) else ast.BinOp(sides[0], node.op, sides[1])
            )
        if isinstance(node, ast.IfExp):
            return ast.IfExp(*(self._expression(one, depth) for one in (node.test, node.body, node.orelse)))
        assert isinstance(node, ast.Compare)
        if self._names_few_models(node):
            return ast.Compare(ast.Name(ARCHITECTURE), node.ops, node.comparators)
        sides = [self._expression(one, depth) for one in (node.left, *node.comparators)]
        return (
            ast.Constant(...) if any(map(_is_untold, sides)) else ast.Compare(sides[0], node.ops, sides[1:])
        )

    def _items(self, node: ast.expr, depth: int) -> ast.expr:
        assert isinstance(node, ast.Tuple | ast.List | ast.Set)
        items = [self._expression(one, depth) for one in node.elts]
        if any(map(_is_untold, items)) or any(isinstance(one, ast.Starred) for one in node.elts):
            return ast.Constant(...)
        return ast.Tuple(items) if not isinstance(node, ast.List) else ast.List(items)


def alternatives(text: str) -> list[str]:
    """Split a local's text at the bars between its several assignments: those outside of brackets and
    quotes, with a space at each side. (A bitwise or in SGLang's own text is split too: then nothing is
    claimed of it.)"""
    parts, depth, quote, start = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(" | ", at):
            parts.append(text[start:at])
            start = at + 3
    return [*parts, text[start:]]


_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LITERALS = (ast.Tuple, ast.List)


def may_raise(text: str) -> bool:
    """Whether Python may raise when it asks for an expression: with a value of another type, or None, where
    one is put in order, calculated with, searched or called a method of."""
    return any(map(_may_raise, ast.walk(ast.parse(text, mode="eval"))))


def _may_raise(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        return any(
            isinstance(how, _ORDERED)
            or (isinstance(how, ast.In | ast.NotIn) and not isinstance(where, _LITERALS))
            for how, where in pairs
        )
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "bool", "str"))
    return isinstance(node, ast.BinOp) or (isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not))


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _is_class(value: object) -> bool:
    return isinstance(value, str) and value[:1].isupper()


def _is_untold(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_kind(node: ast.expr) -> bool:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(one, ast.Name) and one.id in KINDS for one in names)


_HANDLERS: dict[type[ast.expr], Callable[[Writer, Any, int], ast.expr]] = {
    ast.Constant: Writer._constant,
    ast.Name: Writer._name,
    ast.Attribute: Writer._attribute,
    ast.Call: Writer._call,
    ast.BoolOp: Writer._operation,
    ast.UnaryOp: Writer._operation,
    ast.BinOp: Writer._operation,
    ast.IfExp: Writer._operation,
    ast.Compare: Writer._operation,
    ast.Tuple: Writer._items,
    ast.List: Writer._items,
    ast.Set: Writer._items,
}
