"""The conditions under which a step is taken, each linked to what decides it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.extract.code_paths.context import Context
from indexer.knowledge.schema import Condition, Location
from indexer.syntax.callgraph.expressions import Expr, last_name, parse
from indexer.syntax.callgraph.symbols import Function

_CONFIG_ROOT = re.compile(
    r"(server_args|cfg|args|view|get_\w*args|get_(exec|spec|parallel|schedule|memory|model|cache|disagg)\w*)$"
)
_PLATFORM = re.compile(
    r"_?is_(cuda|npu|hip|xpu|cpu|hpu|musa|blackwell|sm\d+\w*|mlx|out_of_tree)|get_platform|_use_\w+"
)
_POOL = re.compile(r"mamba|pool|ssm|radix|tree_cache")
MAX_TEXT = 300


def conditions(context: Context, function: Function, index: int) -> list[Condition]:
    """Return the guard chain of a place in ``function``, outermost first."""
    found: list[Condition] = []
    guards = function.module.facts.guards
    while index >= 0:
        entry = guards[index]
        flags = sorted(set(_flags(context, function, parse(entry.text), 0)))
        location = Location(
            function.module.path, entry.line, entry.end_line if entry.end_line != entry.line else None
        )
        kind = "flag" if flags else _kind(context, entry.text)
        found.append(Condition(entry.text[:MAX_TEXT], entry.holds, location, flags, kind))
        index = entry.parent
    return found[::-1]


def _kind(context: Context, text: str) -> str:
    for enum, table in sorted(context.tree.enums.items()):
        if any(f"{name}(" in text for name in table.predicates) or enum in text:
            return "algorithm" if "Algorithm" in enum else "mode"
    if _PLATFORM.search(text):
        return "platform"
    return "pool" if _POOL.search(text) else "state"


def _flags(context: Context, function: Function, expr: Expr, hops: int) -> Iterator[str]:
    """Yield configuration fields that an expression reads, following one store."""
    kind = expr[0]
    if kind == "attr":
        if expr[2] in context.tree.config_fields and _is_config(expr[1]):
            yield expr[2]
        elif hops < 1 and expr[1] == ("name", "self") and function.cls is not None:
            for cls in function.cls.mro:
                for owner, store, _ in cls.attribute_stores.get(expr[2], ()):
                    if store.value:
                        yield from _flags(context, owner, parse(store.value), hops + 1)
        else:
            yield from _flags(context, function, expr[1], hops)
    elif kind == "name" and hops < 1:
        for store, _ in function.local_stores.get(expr[1], ()):
            if store.value:
                yield from _flags(context, function, parse(store.value), hops + 1)
    elif kind == "call":
        yield from _flags(context, function, expr[1], hops)
        for _, argument in expr[2]:
            yield from _flags(context, function, argument, hops)
    elif kind in ("not", "await"):
        yield from _flags(context, function, expr[1], hops)
    elif kind in ("bool", "cmp"):
        for item in expr[2]:
            yield from _flags(context, function, item, hops)
    elif kind == "op":
        for item in expr[2:]:
            yield from _flags(context, function, item, hops)
    elif kind == "if":
        for item in expr[1:]:
            yield from _flags(context, function, item, hops)


def _is_config(expr: Expr) -> bool:
    """Whether an expression is the server's configuration or a part of it (``get_exec().mamba``)."""
    while expr[0] == "attr" or expr[0] == "call":
        if _CONFIG_ROOT.search(last_name(expr)):
            return True
        expr = expr[1]
    return bool(_CONFIG_ROOT.search(last_name(expr)))
