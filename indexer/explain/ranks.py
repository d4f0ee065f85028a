"""How many GPUs a launch takes of each node, as the release numbers them when it starts its processes.

Argument resolution never counts the GPUs there are: a launch whose processes outnumber them is accepted,
and its last processes find no GPU.
"""

from __future__ import annotations

import ast
import operator
from functools import lru_cache
from typing import Any

import msgspec

from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT, SourceTree

_LAUNCHERS = ("srt/entrypoints/engine.py", "srt/managers/data_parallel_controller.py")
"""Who starts the processes of a launch without and with data parallelism."""
_ASSIGNED = "gpu_id"
_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}  # fmt: skip


class Needed(msgspec.Struct, frozen=True):
    """How many GPUs a node must have: the highest number that is given out, plus one; and where."""

    gpus: int
    processes: int
    sizes: str
    at: Location


def gpus_needed(tree: SourceTree, values: dict[str, Any]) -> Needed | None:
    """Return what a launch with these resolved values takes of each node.

    None where the release's numbering can't be read, where a size isn't known, or where another launcher
    than its own starts the processes.
    """
    tp, pp, dp = (values.get(name, 1) for name in ("tp_size", "pp_size", "dp_size"))
    nodes, step, base = (values.get(name, least) for name, least in _PLACED)
    if not all(type(one) is int and one >= 0 for one in (tp, pp, dp, nodes, step, base)):
        return None
    elsewhere = (values.get(name) for name in ("use_ray", "encoder_only", "elastic_ep_backend"))
    if min(tp, pp, dp, nodes, step) < 1 or any(elsewhere):
        return None
    shared = values.get("enable_dp_attention") or (values.get("attn_dp_size") or 1) > 1
    replicas = 1 if shared else dp
    per_group = max(nodes // pp, 1)
    of_tp, of_pp = tp // per_group, max(pp // nodes, 1)
    if of_tp < 1 or (replicas > 1 and nodes > 1):
        return None
    ranks = {
        "tp_size_per_node": of_tp, "pp_size_per_node": of_pp, "tp_rank": of_tp - 1, "pp_rank": of_pp - 1,
        "gpu_id_step": step, "base_gpu_id": (replicas - 1) * tp * pp * step,
    }  # fmt: skip
    named = {"tp_size": tp, "pp_size": pp, "dp_size": replicas, "nnodes": nodes}
    sizes = ", ".join(f"{name} {size}" for name, size in named.items() if size > 1 or name == "tp_size")
    for expression, at in _numberings(tree, _LAUNCHERS[dp > 1]):
        highest = _value(expression, ranks, {"base_gpu_id": base, "gpu_id_step": step})
        if highest is not None:
            return Needed(highest + 1, of_tp * of_pp * replicas, sizes, at)
    return None


_PLACED = (("nnodes", 1), ("gpu_id_step", 1), ("base_gpu_id", 0))


@lru_cache(maxsize=8)  # few: a key keeps its tree
def _numberings(tree: SourceTree, file: str) -> list[tuple[ast.expr, Location]]:
    """Return the expressions that number a process's GPU by its ranks, each with its place."""
    path = f"{PACKAGE_ROOT}/{file}"
    if path not in tree:
        return []
    found = []
    for node in ast.walk(ast.parse(tree.text(path))):
        if not isinstance(node, ast.Assign) or [ast.unparse(one) for one in node.targets] != [_ASSIGNED]:
            continue
        if "tp_rank" in {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}:
            found.append((node.value, Location(path, node.lineno, node.end_lineno, _ASSIGNED)))
    return found


def _value(node: ast.expr, names: dict[str, int], fields: dict[str, int]) -> int | None:
    """Return the value of an expression in whole numbers; a field is told by its own name alone."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(attr=name):
            return fields.get(name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            operands = _value(left, names, fields), _value(right, names, fields)
            if None in operands or (isinstance(op, (ast.Mod, ast.FloorDiv)) and not operands[1]):
                return None
            return _OPERATORS[type(op)](*operands)
    return None
