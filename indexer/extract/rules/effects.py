"""Statements that may become rules, found by the ``rule_*`` queries and read into ``Effect``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
from tree_sitter import Node

from indexer.extract.rules.expressions import Bindings, bound, chain, expression, literal, render, unwrap
from indexer.extract.rules.facts import Atom, Effect, Expr
from indexer.extract.rules.messages import Lookup, template
from indexer.syntax import queries
from indexer.syntax.anchors import anchors
from indexer.syntax.parse import end_line, line, text

SHAPES = ("raise", "assert", "log", "store", "item", "declare", "environment", "result", "accumulate")
"""The queries, in the order in which they claim a statement: one statement may be claimed by several."""

_CONSTANT = re.compile(rb"\b_?[A-Z][A-Z0-9_]{2,}\b")
_QUERIES = (*(f"rule_{shape}" for shape in SHAPES), "rule_calls")


class Shapes:
    """Everything below a node that the queries found, looked up by place."""

    def __init__(self, root: Node, source: bytes) -> None:
        claims: dict[int, list[tuple[str, str]]] = {}
        nodes: dict[int, Node] = {}
        captures = queries.joined_captures(_QUERIES, root)
        for shape in SHAPES:
            for capture, found in captures[f"rule_{shape}"].items():
                if not capture.startswith("_"):
                    for node in found:
                        claims.setdefault(node.id, []).append((shape, capture))
                        nodes[node.id] = node
        others = captures["rule_calls"]
        for capture in ("call", "walrus"):
            nodes.update((node.id, node) for node in others.get(capture, ()))
        ordered = sorted(nodes.values(), key=lambda node: (node.start_byte, -node.end_byte))
        self._nodes = [(node, claims.get(node.id, [])) for node in ordered]
        self._starts = [node.start_byte for node in ordered]
        self._constants = sorted(_constants(root, source))

    def inside(self, node: Node) -> list[tuple[Node, list[tuple[str, str]]]]:
        """Return the claimed nodes, calls and walruses at or below a node, outer ones first."""
        first = bisect_left(self._starts, node.start_byte)
        last = bisect_left(self._starts, node.end_byte)
        return [pair for pair in self._nodes[first:last] if pair[0].end_byte <= node.end_byte]

    def constants(self, node: Node) -> tuple[str, ...]:
        """Return the upper-case names below a node."""
        first = bisect_left(self._constants, (node.start_byte, ""))
        last = bisect_left(self._constants, (node.end_byte, ""))
        return tuple(dict.fromkeys(name for _, name in self._constants[first:last]))


def _constants(root: Node, source: bytes) -> Iterator[tuple[int, str]]:
    """Yield the place and text of the upper-case names."""
    for match, node in anchors(_CONSTANT, source, root, span=(root.start_byte, root.end_byte)):
        if node.type == "identifier":
            yield node.start_byte, match[0].decode()


@dataclass
class Site:
    """Where a statement stands: its guard, the block around it, and how to look up local values."""

    guard: tuple[Atom, ...]
    block: int
    bindings: Bindings
    lookup: Lookup


def read_effects(statement: Node, claims: list[tuple[str, str]], site: Site) -> Iterator[Effect]:
    """Yield the effects of one claimed statement or call."""
    for shape, capture in claims:
        yield from _READERS[shape](statement, capture, site)


def _effect(kind: str, shape: str, node: Node, site: Site, **more: object) -> Effect:
    bindings = {name: render(value) for name, value in site.bindings.items()}
    return Effect(
        kind,
        shape,
        line(node),
        end_line(node),
        site.block,
        site.guard,
        bindings=bindings,
        **more,  # type: ignore[arg-type]
    )


def _arguments(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return [child for child in arguments.named_children if child.type != "comment"] if arguments else []


def _positional(call: Node) -> list[Node]:
    return [child for child in _arguments(call) if child.type not in ("keyword_argument", "dictionary_splat")]


# -- refusals and log lines ------------------------------------------------------------------------


def _raise(node: Node, capture: str, site: Site) -> Iterator[Effect]:
    if capture == "exit":
        given = _positional(node)
        message = template(given[0], site.bindings, site.lookup) if given else None
        yield _effect("raise", "exit", node, site, exception="SystemExit", message=message)
        return
    values = [child for child in node.named_children if child.type != "comment"]
    if not values:
        return  # a bare re-raise adds nothing to the refusal it passes on
    raised = values[0]
    if raised.type == "identifier" and (assigned := site.lookup(text(raised))) is not None:
        raised = assigned
    message, reads, function = None, None, None
    if raised.type == "call":
        function = raised.child_by_field_name("function")
        if given := _positional(raised):
            message = template(given[0], site.bindings, site.lookup)
            reads = expression(given[0], site.bindings)
    name = chain(function if function is not None else raised) or text(raised)
    yield _effect("raise", "raise", node, site, exception=name, message=message, reads=reads)


def _assert(node: Node, _: str, site: Site) -> Iterator[Effect]:
    values = [child for child in node.named_children if child.type != "comment"]
    if not values:
        return
    message = template(values[1], site.bindings, site.lookup) if len(values) > 1 else None
    reads = expression(values[1], site.bindings) if len(values) > 1 else None
    yield _effect(
        "assert",
        "assert" if message else "assert without message",
        node,
        site,
        exception="AssertionError",
        values=(expression(values[0], site.bindings),),
        message=message,
        reads=reads,
    )


def _log(node: Node, _: str, site: Site) -> Iterator[Effect]:
    function = node.child_by_field_name("function")
    name = text(function) if function is not None else ""
    given = [child for child in _positional(node) if chain(child) not in ("logger", "log", "_logger")]
    if not given:
        return
    level = "notice" if re.search(r"info|rank0_log", name.rpartition(".")[2]) else "warning"
    parts = [expression(child, site.bindings) for child in given]
    yield _effect(
        "log",
        name,
        node,
        site,
        message=template(given[0], site.bindings, site.lookup),
        container=level,
        reads=_merge(parts),
    )


def _merge(parts: list[Expr]) -> Expr:
    def joined(pick: Callable[[Expr], tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for part in parts for one in pick(part)))

    return Expr(
        parts[0].text,
        joined(lambda one: one.chains),
        joined(lambda one: one.names),
        joined(lambda one: one.calls),
        joined(lambda one: one.strings),
    )


# -- decisions -------------------------------------------------------------------------------------


def _store(node: Node, capture: str, site: Site) -> Iterator[Effect]:
    if capture == "setattr":
        given = _positional(node)
        name = literal(bound(given[1], site.bindings)) if len(given) == 3 else ...
        if isinstance(name, str) and (owner := chain(given[0])) is not None:
            yield _effect(
                "store", "setattr", node, site,
                targets=(f"{owner}.{name}",), values=(expression(given[2], site.bindings),),
            )  # fmt: skip
        return
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    if left.type == "attribute":
        if (target := _target(left)) is not None:
            shape = "augmented assignment" if node.type == "augmented_assignment" else "assignment"
            yield _effect(
                "store",
                shape,
                node,
                site,
                targets=(target,),
                values=(expression(_last(right), site.bindings),),
            )
        return
    targets = [_target(child) for child in left.named_children if child.type != "comment"]
    values = _spread(right, len(targets), site)
    kept = [(target, value) for target, value in zip(targets, values, strict=True) if target]
    yield _effect(
        "store", "tuple assignment", node, site,
        targets=tuple(target for target, _ in kept), values=tuple(value for _, value in kept),
    )  # fmt: skip


def _last(right: Node) -> Node:
    """Return the value of a chained assignment (``a.x = a.y = 1``)."""
    while right.type == "assignment" and (inner := right.child_by_field_name("right")) is not None:
        right = inner
    return right


def _target(node: Node) -> str | None:
    return chain(node) if node.type in ("attribute", "subscript") else None


def _spread(right: Node, count: int, site: Site) -> list[Expr]:
    right = unwrap(right)
    parts = [child for child in right.named_children if child.type != "comment"]
    if right.type in ("expression_list", "tuple") and len(parts) == count:
        return [expression(part, site.bindings) for part in parts]
    return [expression(right, site.bindings)] * count


def _key(node: Node, bindings: Bindings) -> str | None:
    value = literal(bound(node, bindings))
    return value if isinstance(value, str) else None


def dict_pairs(node: Node, bindings: Bindings) -> list[tuple[str, Node]]:
    """Return the pairs of a dict literal whose keys are known strings."""
    pairs = []
    for child in node.named_children:
        if child.type == "pair" and len(child.named_children) >= 2:
            key = _key(child.named_children[0], bindings)
            if key is not None:
                pairs.append((key, child.named_children[-1]))
    return pairs


def _decisions(
    kind: str, shape: str, node: Node, pairs: list[tuple[str, Node]], container: str | None, site: Site
) -> Effect:
    return _effect(
        kind, shape, node, site,
        targets=tuple(key for key, _ in pairs),
        values=tuple(expression(value, site.bindings) for _, value in pairs),
        container=container,
    )  # fmt: skip


def _item(node: Node, capture: str, site: Site) -> Iterator[Effect]:
    if capture == "update":
        yield from _update(node, site)
        return
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    if capture == "literal":
        pairs = dict_pairs(right, site.bindings)
        if pairs and all(unwrap(value).type == "dictionary" for _, value in pairs):
            yield from _table(node, text(left), pairs, site)
        elif pairs:
            yield _decisions("item", "dict literal", node, pairs, text(left), site)
        return
    owner, index = left.child_by_field_name("value"), left.child_by_field_name("subscript")
    if owner is None or index is None:
        return
    if owner.type == "identifier" and (key := _key(index, site.bindings)) is not None:
        yield _decisions("item", "dict item", node, [(key, right)], text(owner), site)
    elif owner.type == "attribute" and (dotted := chain(owner)) is not None:
        target = f"{dotted}[{render(index, site.bindings)}]"
        yield _effect(
            "store", "item assignment", node, site,
            targets=(target,), values=(expression(right, site.bindings),),
        )  # fmt: skip


def _table(node: Node, name: str, rows: list[tuple[str, Node]], site: Site) -> Iterator[Effect]:
    """Yield one effect per row of a table of decisions, keyed by what it applies to."""
    for key, row in rows:
        if pairs := dict_pairs(unwrap(row), site.bindings):
            effect = _decisions("table", "constant table", row, pairs, name, site)
            yield msgspec.structs.replace(effect, bindings={"key": key})


def _update(node: Node, site: Site) -> Iterator[Effect]:
    function = node.child_by_field_name("function")
    owner = function.child_by_field_name("object") if function is not None else None
    if owner is None or owner.type != "identifier":
        return
    pairs: list[tuple[str, Node]] = []
    given = _arguments(node)
    if function is not None and text(function).endswith(".setdefault"):
        key = _key(given[0], site.bindings) if len(given) == 2 else None
        pairs = [(key, given[1])] if key is not None else []
    for child in given:
        if child.type == "keyword_argument" and len(child.named_children) == 2:
            pairs.append((text(child.named_children[0]), child.named_children[1]))
        elif child.type == "dictionary":
            pairs.extend(dict_pairs(child, site.bindings))
    if pairs:
        yield _decisions("item", "dict update", node, pairs, text(owner), site)


def _declare(node: Node, _: str, site: Site) -> Iterator[Effect]:
    function = node.child_by_field_name("function")
    pairs: list[tuple[str, Node]] = []
    unpacked: list[str] = []
    for child in _arguments(node):
        if child.type == "keyword_argument" and len(child.named_children) >= 2:
            pairs.append((text(child.named_children[0]), child.named_children[-1]))
        elif child.type == "dictionary_splat":
            inner = unwrap(child.named_children[-1])
            pairs.extend(dict_pairs(inner, site.bindings) if inner.type == "dictionary" else [])
            unpacked.append(chain(inner) or render(inner))
    effect = _decisions("declare", "declaration", node, pairs, text(function) if function else None, site)
    yield effect
    for name in unpacked:
        yield _effect("unpack", "declaration", node, site, container=name)


def _environment(node: Node, capture: str, site: Site) -> Iterator[Effect]:
    if capture == "item":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        index = left.child_by_field_name("subscript") if left is not None else None
        name, value = _key(index, site.bindings) if index is not None else None, right
    elif capture == "set":
        function = node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        name = text(owner.named_children[-1]) if owner is not None else None
        given = _positional(node)
        value = given[0] if given else None
    else:
        given = _positional(node)
        name = _key(given[0], site.bindings) if given else None
        value = given[1] if len(given) > 1 else None
    if name is not None and value is not None:
        yield _effect(
            "environment", "environment write", node, site,
            targets=(name,), values=(expression(value, site.bindings),),
        )  # fmt: skip


def _result(node: Node, _: str, site: Site) -> Iterator[Effect]:
    value = unwrap(node.named_children[0])
    if value.type == "dictionary":
        if pairs := dict_pairs(value, site.bindings):
            yield _decisions("result", "returned dict", node, pairs, None, site)
        return
    yield _effect("value", "returned value", node, site, values=(expression(value, site.bindings),))


def _accumulate(node: Node, _: str, site: Site) -> Iterator[Effect]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and right is not None:
        yield _effect(
            "accumulate", "local accumulator", node, site,
            values=(expression(right, site.bindings),), container=text(left),
        )  # fmt: skip


_READERS: dict[str, Callable[[Node, str, Site], Iterator[Effect]]] = {
    "raise": _raise,
    "assert": _assert,
    "log": _log,
    "store": _store,
    "item": _item,
    "declare": _declare,
    "environment": _environment,
    "result": _result,
    "accumulate": _accumulate,
}
