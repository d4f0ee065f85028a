"""Loops over literals: which elements they run over, and what the loop variables then stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node

from indexer.extract.rules.expressions import Bindings, unwrap
from indexer.syntax.parse import text

Literals = Callable[[str], Node | None]
"""Gives the literal list, tuple or dict a name is bound to, where it is bound once."""

MOST_ELEMENTS = 40
_SAME_ELEMENTS = {"sorted", "list", "tuple", "set", "frozenset", "reversed"}


def unrolled(loop: Node, bindings: Bindings, literals: Literals) -> list[dict[str, Node]] | None:
    """Return the bindings of each pass of a ``for`` over a literal, None where it isn't one."""
    left, right = loop.child_by_field_name("left"), loop.child_by_field_name("right")
    if left is None or right is None:
        return None
    elements = _elements(right, literals)
    if elements is None or not 0 < len(elements) <= MOST_ELEMENTS:
        return None
    passes = []
    for element in elements:
        names = _bind(left, element)
        if names is None:
            return None
        passes.append({**bindings, **names})
    return passes


def _values(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _elements(node: Node, literals: Literals) -> list[list[Node] | Node] | None:
    node = unwrap(node)
    if node.type == "identifier":
        target = literals(text(node))
        return _elements(target, literals) if target is not None and target.type != "identifier" else None
    if node.type in ("list", "tuple", "set", "expression_list"):
        values = _values(node)
        return None if any(one.type == "list_splat" for one in values) else list(values)
    if node.type == "dictionary":
        pairs = _values(node)
        return [pair.named_children[0] for pair in pairs] if _only_pairs(pairs) else None
    if node.type == "call":
        return _of_call(node, literals)
    return None


def _only_pairs(nodes: list[Node]) -> bool:
    return all(one.type == "pair" and len(one.named_children) == 2 for one in nodes)


def _of_call(node: Node, literals: Literals) -> list[list[Node] | Node] | None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return None
    if function.type == "identifier" and text(function) in _SAME_ELEMENTS:
        given = _values(arguments)
        return _elements(given[0], literals) if given else None
    if function.type != "attribute" or not text(function).endswith(".items"):
        return None
    owner = unwrap(function.named_children[0])
    if owner.type == "identifier":
        owner = literals(text(owner)) or owner
    if owner.type != "dictionary" or not _only_pairs(pairs := _values(owner)):
        return None
    return [list(pair.named_children) for pair in pairs]


def _bind(target: Node, element: list[Node] | Node) -> dict[str, Node] | None:
    if target.type == "identifier":
        return {text(target): element} if isinstance(element, Node) else None
    if target.type not in ("pattern_list", "tuple_pattern", "list_pattern"):
        return None
    names = _values(target)
    if isinstance(element, Node):
        element = unwrap(element)
        if element.type not in ("tuple", "list"):
            return None
        element = _values(element)
    if len(names) != len(element):
        return None
    return dict(_pairs(names, element))


def _pairs(names: list[Node], values: list[Node]) -> Iterator[tuple[str, Node]]:
    for name, value in zip(names, values, strict=True):
        nested = _bind(name, value)
        yield from (nested or {}).items()
