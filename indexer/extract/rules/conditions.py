"""Tests as conjunctions of atoms with polarity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tree_sitter import Node

from indexer.extract.rules.expressions import Bindings, bound, expression, literal
from indexer.extract.rules.facts import Atom, Expr
from indexer.syntax.parse import line, text


def conjuncts(test: Node, holds: bool, bindings: Bindings, how: str = "if") -> list[Atom]:
    """Return the atoms that are all true when ``test`` evaluates to ``holds``."""
    node = bound(test, bindings)
    inner: Bindings = bindings if node == test or node.type in ("boolean_operator", "not_operator") else {}
    if node.type == "not_operator" and node.named_children:
        return conjuncts(node.named_children[-1], not holds, bindings, how)
    if node.type == "boolean_operator":
        operator = node.child_by_field_name("operator")
        if operator is not None and text(operator) == ("and" if holds else "or"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            return [
                atom
                for side in (left, right)
                if side is not None
                for atom in conjuncts(side, holds, bindings, how)
            ]
    return [Atom(expression(node, inner or bindings), holds, line(test), how)]


def constant(test: Node, bindings: Bindings) -> bool | None:
    """Return the truth of a test that bound literals decide, else None."""
    node = bound(test, bindings)
    if node.type == "not_operator" and node.named_children:
        inner = constant(node.named_children[-1], bindings)
        return None if inner is None else not inner
    value = literal(node)
    if value is not ...:
        return bool(value)
    if node.type == "comparison_operator" and len(node.named_children) == 2:
        left, right = (literal(bound(child, bindings)) for child in node.named_children)
        operator = " ".join(text(child) for child in node.children if not child.is_named)
        return _compare(left, operator, right)
    return None


def _compare(left: object, operator: str, right: object) -> bool | None:
    if right is ... or left is ...:
        return None
    if operator in ("is", "=="):
        return left == right
    if operator in ("is not", "!="):
        return left != right
    return None


def negation(exits: Sequence[Atom], known: Iterable[Atom], how: str) -> Atom | None:
    """Return the atom saying that a conjunction did not hold; members already known drop out."""
    held = {(atom.expr.text, atom.holds) for atom in known}
    rest = [atom for atom in exits if (atom.expr.text, atom.holds) not in held]
    if not rest or any(atom.how in ("loop", "except") for atom in rest):
        return None
    if len(rest) == 1:
        return Atom(rest[0].expr, not rest[0].holds, rest[0].line, how)
    parts = [atom.expr for atom in rest]
    return Atom(
        Expr(
            " and ".join(_worded(atom) for atom in rest),
            _joined(part.chains for part in parts),
            _joined(part.names for part in parts),
            _joined(part.calls for part in parts),
            _joined(part.strings for part in parts),
        ),
        False,
        rest[0].line,
        how,
    )


def known_to_hold(atoms: Iterable[Atom], guard: Iterable[Atom]) -> bool:
    """Return whether every atom is among those of a guard."""
    held = {(atom.expr.text, atom.holds) for atom in guard}
    return all((atom.expr.text, atom.holds) in held for atom in atoms)


def _worded(atom: Atom) -> str:
    inner = atom.expr.text
    if not atom.holds:
        return f"not ({inner})"
    return f"({inner})" if " or " in inner else inner


def _joined(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))
