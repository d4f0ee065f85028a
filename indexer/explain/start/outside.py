"""What a running server has around its code: a resolved record, element sizes, process groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from indexer.explain.launches import PreparedLaunch
from indexer.explain.resolve import resolved_values
from indexer.interpret.modules import Program
from indexer.interpret.program import ARGUMENTS, open_program
from indexer.source.tree import SourceTree

_GROUPS = "sglang.srt.distributed.parallel_state"
_DP_ATTENTION = "sglang.srt.layers.dp_attention"
_ITEM_SIZES = {
    "float64": 8, "int64": 8, "float32": 4, "int32": 4, "bfloat16": 2, "float16": 2, "int16": 2,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "uint8": 1, "int8": 1, "bool": 1,
}  # fmt: skip
"""Bytes of an element of each of PyTorch's types."""


@dataclass
class Resolved:
    """A launch that the release resolved: its record, its values, the model's configuration."""

    program: Program
    record: Any
    values: dict[str, Any]
    config: Any
    sizes: SimpleNamespace


def open_resolved(tree: SourceTree, prepared: PreparedLaunch) -> Resolved:
    """Open a tree in the world of a launch, resolve it, and make the model's configuration.

    Raises:
        LookupError: how attention is spread over the GPUs isn't known.
        Exception: whatever the release raises.
    """
    program = open_program(tree, prepared.launch, prepared.transformers)
    teach_sizes(program)
    record = program.import_module(ARGUMENTS).prepare_server_args(list(prepared.launch.argv))
    if hasattr(type(record), "resolve_once"):
        record.resolve_once()
    return configured(program, record)


def configured(program: Program, record: Any) -> Resolved:
    """Make the model's configuration of a record that a program has resolved, and the process groups.

    Raises:
        LookupError: how attention is spread over the GPUs isn't known.
        Exception: whatever the release raises.
    """
    values = resolved_values(record)
    config = program.import_module("sglang.srt.configs.model_config").ModelConfig.from_server_args(record)
    sizes = parallel_sizes(program, values)
    set_up_groups(program, sizes)
    return Resolved(program, record, values, config, sizes)


def teach_sizes(program: Program) -> None:
    """Let interpreted code know element sizes and NumPy's products and sums of whole numbers.

    A random number is fixed, so that it decides nothing: it is the seed or a port, no size.
    """
    program.world.know(
        {f"torch.{name}.itemsize": size for name, size in _ITEM_SIZES.items()},
        {"numpy.prod": _product, "numpy.sum": _sum, "random.randint": lambda low, high: low},
    )


def _product(values: Any) -> Any:
    return math.prod(values) if isinstance(values, (list, tuple)) else values


def _sum(values: Any) -> Any:
    return sum(values) if isinstance(values, (list, tuple)) else values


def parallel_sizes(program: Program, resolved: dict[str, Any]) -> SimpleNamespace:
    """Return the sizes of the process groups that a launch gets.

    Where attention is not split as the rest is, the release's own function says how.

    Raises:
        LookupError: the release has no such function.
    """
    tp, pp = resolved.get("tp_size") or 1, resolved.get("pp_size") or 1
    dp, cp = resolved.get("dp_size") or 1, resolved.get("attn_cp_size") or 1
    split = bool(resolved.get("enable_dp_attention")) or bool((resolved.get("attn_dp_size") or 1) > 1)
    attn_tp = tp
    if split or cp > 1:
        attn_tp = _attention_tp(program, split, tp, dp, cp)
    return SimpleNamespace(
        tp_size=tp, pp_size=pp, dp_size=dp, attn_tp_size=attn_tp, attn_dp_size=dp if split else 1,
        attn_cp_size=cp, tp_rank=0, pp_rank=0, dp_rank=0, attn_tp_rank=0, attn_dp_rank=0, attn_cp_rank=0,
    )  # fmt: skip


def _attention_tp(program: Program, split: bool, tp: int, dp: int, cp: int) -> int:
    if program.find(_DP_ATTENTION) is not None:
        module = program.import_module(_DP_ATTENTION)
        compute = getattr(module, "compute_dp_attention_world_info", None)
        if compute is not None:
            given = (split, 0, tp, dp, cp)[: compute.__code__.co_argcount]
            return compute(*given)[1]
    raise LookupError("how attention is spread over the GPUs")


def set_up_groups(program: Program, sizes: SimpleNamespace) -> None:
    """Give the modules that hold process groups stand-ins of these sizes.

    A release that keeps the sizes in its published configuration doesn't ask them.
    """
    groups = {
        "_TP": sizes.tp_size, "_ATTN_TP": sizes.attn_tp_size, "_PP": sizes.pp_size,
        "_ATTN_CP": sizes.attn_cp_size,
    }  # fmt: skip
    if program.find(_GROUPS) is not None:
        module = program.import_module(_GROUPS)
        for name, size in groups.items():
            if module._rt_state.offers(name):
                setattr(module, name, SimpleNamespace(world_size=size, rank_in_group=0, rank=0))
    if program.find(_DP_ATTENTION) is not None:
        module = program.import_module(_DP_ATTENTION)
        if module._rt_state.offers("_ATTN_TP_SIZE"):
            module._ATTN_TP_SIZE = sizes.attn_tp_size
