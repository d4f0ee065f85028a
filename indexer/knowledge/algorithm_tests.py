"""What a condition, given as source text, means for one speculative algorithm.

Only tests of the algorithm itself are decided: its name compared with literals, its predicates. Everything
else is left as it is written.
"""

from __future__ import annotations

import ast

from indexer.knowledge.schema import Algorithm

_FIELD = "speculative_algorithm"
Reduced = tuple[bool | None, list[str]]
"""The value for the algorithm (None: other things decide), and the conjuncts that are left to decide."""


class AlgorithmTests:
    """Evaluates conditions for one algorithm."""

    def __init__(self, algorithm: Algorithm) -> None:
        self._name = algorithm.name
        self._predicates = {
            name: value for name, value in algorithm.predicates.items() if isinstance(value, bool)
        }
        self.asked = False
        """Whether the last condition tested the algorithm at all."""

    def reduce(self, condition: str) -> Reduced:
        """Return what a condition comes to; (None, [condition]) where it can't be read."""
        self.asked = False
        try:
            tree = ast.parse(condition.strip(), mode="eval")
        except SyntaxError:
            return None, [condition]
        value, left = self._reduce(tree.body)
        return value, left if value is None else []

    def _reduce(self, node: ast.expr) -> Reduced:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value, _ = self._reduce(node.operand)
            return (None, [ast.unparse(node)]) if value is None else (not value, [])
        if isinstance(node, ast.BoolOp):
            return self._join(node)
        value = bool(node.value) if isinstance(node, ast.Constant) else self._leaf(node)
        return value, [ast.unparse(node)] if value is None else []

    def _join(self, node: ast.BoolOp) -> Reduced:
        decides = isinstance(node.op, ast.Or)
        left: list[str] = []
        for part in node.values:
            value, rest = self._reduce(part)
            if value is decides:
                return decides, []
            if value is None:
                left += rest if not decides else [" and ".join(rest)]
        if not left:
            return not decides, []
        return None, left if not decides else [" or ".join(left)]

    def _leaf(self, node: ast.expr) -> bool | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if not node.args and not node.keywords and name in self._predicates:
                self.asked = True
                return self._predicates[name]
            return None
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not self._is_field(node.left):
            return None
        try:
            wanted = ast.literal_eval(node.comparators[0])
        except ValueError:
            return None
        match node.ops[0]:
            case ast.Is() | ast.Eq() if isinstance(wanted, (str, type(None))):
                value = wanted == self._name
            case ast.IsNot() | ast.NotEq() if isinstance(wanted, (str, type(None))):
                value = wanted != self._name
            case ast.In() if isinstance(wanted, (tuple, list, set)):
                value = self._name in wanted
            case ast.NotIn() if isinstance(wanted, (tuple, list, set)):
                value = self._name not in wanted
            case _:
                return None
        # That there is an algorithm at all says nothing about this one.
        self.asked = self.asked or wanted is not None
        return value

    def _is_field(self, node: ast.expr) -> bool:
        """Tell whether an expression is the algorithm's name, also as text or in capitals."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            return node.func.attr in ("upper", "lower") and self._is_field(node.func.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
            return len(node.args) == 1 and self._is_field(node.args[0])
        return isinstance(node, ast.Attribute) and node.attr == _FIELD
