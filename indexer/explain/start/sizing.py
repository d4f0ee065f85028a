"""Running a release's sizing of the recurrent state for one launch."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from indexer.collector import collector_paused
from indexer.explain.launches import PreparedLaunch, Question, prepare
from indexer.explain.start.facts import GIB, Sized, StateMemory
from indexer.explain.start.inline import NAME, AppendedTree, find_inline_ratio
from indexer.explain.start.outside import open_resolved
from indexer.explain.start.standin import Pools, at_definition, find_pools, place_of
from indexer.explain.start.wanted import file_with
from indexer.explain.start.why import why
from indexer.interpret.children import ChildStopped, contained
from indexer.interpret.explore import Exploration, explore
from indexer.interpret.launch import Launch
from indexer.interpret.machine import memory_of
from indexer.interpret.modules import Program
from indexer.interpret.running import run_with_deep_stack
from indexer.interpret.signals import Signal, begin_path, swallowed
from indexer.interpret.unknown import Unknown
from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT, SourceTree

_MOST_PATHS = 6
_SIZING = re.compile(rb"\bdef (_?handle_max_mamba_cache)\(")
_LIKELY = (f"{PACKAGE_ROOT}/srt/mem_cache", f"{PACKAGE_ROOT}/srt/model_executor")
_RATIO = "_calculate_mamba_ratio"
_REFUSALS = (RuntimeError, ValueError, AssertionError)
_PLAIN_AMOUNTS = (8.0, 16.0, 32.0, 64.0)
_SHARES = (0.75, 0.5, 0.25, 0.1)


def state_memory(
    tree: SourceTree, question: Question, weights_gib: float | None = None
) -> StateMemory | None:
    """Return the memory of the recurrent state of a launch; None where the release has no such state.

    ``weights_gib`` are the weights on each GPU, target and draft; without them several amounts of memory
    that weights may leave are sized.

    Raises:
        UsageError: the question names an unknown GPU.
        CannotError: something needed can't be fetched or read.
    """
    prepared = prepare(tree, question)
    found = file_with(tree, _SIZING, *_LIKELY, f"{PACKAGE_ROOT}/srt")
    if found is None:
        return None
    path, name = found
    inline, trusted = None, tree.pinned
    if f"def {_RATIO}(".encode() not in tree.read(path):
        inline = _inline(tree)
        if inline is not None:
            tree = AppendedTree(tree, inline[1].path, inline[0])
    run = partial(_one_path, tree, prepared, (path, name), inline[1] if inline else None, weights_gib)
    with collector_paused():
        answer = contained(partial(_explored, run), StateMemory | None, trusted)
    return StateMemory(unknown=[str(answer)]) if isinstance(answer, ChildStopped) else answer


def _explored(run: Callable[[], StateMemory | None]) -> StateMemory | None:
    return _joined(run_with_deep_stack(partial(explore, run, _MOST_PATHS)))


def _inline(tree: SourceTree) -> tuple[str, Location] | None:
    for path in tree.walk(f"{PACKAGE_ROOT}/srt/model_executor"):
        found = find_inline_ratio(tree, path)
        if found is not None:
            return found
    return None


def _joined(explored: Exploration[StateMemory | None]) -> StateMemory | None:
    """Return what all paths agree on; where they differ, what would decide is not known."""
    results = [path.result for path in explored.paths]
    first = results[0]
    if first is None or all(one == first for one in results[1:]):
        if first is not None and not explored.complete:
            first.unknown.append("there are more cases than were tried")
        return first
    asked = dict.fromkeys(fork.text for path in explored.paths for fork in path.forks)
    return StateMemory(unknown=[f"the numbers depend on {what}" for what in asked])


def _one_path(
    tree: SourceTree,
    prepared: PreparedLaunch,
    sizing: tuple[str, str],
    inline: Location | None,
    weights_gib: float | None,
) -> StateMemory | None:
    begin_path()
    result = StateMemory()
    try:
        opened = open_resolved(tree, prepared)
        pools = find_pools(opened, sizing)
        pools.publish(opened.record)
        state = pools.state_config()
        if state is None:
            return None
        _describe(result, state)
        _limits(result, prepared.launch, opened.values)
        _ratio(result, opened.program, pools, inline)
        result.sized = [_sized(result, pools, opened.record, rest) for rest in _amounts(result, weights_gib)]
        result.one_more = _one_more(result, pools, opened.record)
        result.places["slots that fit"] = place_of(pools.sizing)
        result.places = {what: at_definition(tree, at) for what, at in result.places.items()}
    except LookupError as error:
        result.unknown.append(str(error))
    except (Signal, RecursionError, MemoryError) as error:
        result.unknown.append(str(error) or type(error).__name__)
    except (Exception, SystemExit) as error:
        result.unknown.append(why(error))
    lost = swallowed()
    if lost is not None:
        return StateMemory(unknown=[f"SGLang's code went on after: {lost.reason}"])
    return result


def _amounts(result: StateMemory, weights_gib: float | None) -> list[float]:
    """Return amounts of memory left for all pools of a GPU, in GiB.

    With the weights known it is one; else parts of what a GPU has for weights and pools together.
    """
    if result.static_gib is None:
        return list(_PLAIN_AMOUNTS)
    if weights_gib is not None:
        return [result.static_gib - weights_gib]
    return [result.static_gib * share for share in _SHARES]


def _describe(result: StateMemory, state: Any) -> None:
    """Note the shapes, types and bytes of one slot, as the configuration class gives them."""
    params = state.mamba2_cache_params
    shapes = params.shape.conv
    result.config_class = type(state).__name__
    result.conv = [list(shape) for shape in (shapes if isinstance(shapes, list) else [shapes])]
    result.temporal = list(params.shape.temporal)
    result.conv_dtype = str(params.dtype.conv).removeprefix("torch.")
    result.temporal_dtype = str(params.dtype.temporal).removeprefix("torch.")
    result.layers = len(params.layers)
    result.slot_bytes = int(params.mamba_cache_per_req)
    result.places["shape of the state"] = place_of(type(state), "mamba2_cache_params")
    result.places["bytes of a slot"] = place_of(type(params), "mamba_cache_per_req")


def _limits(result: StateMemory, launch: Launch, resolved: dict[str, Any]) -> None:
    result.draft_tokens = resolved.get("speculative_num_draft_tokens")
    result.running = resolved.get("max_running_requests")
    result.ratio = resolved.get("mamba_full_memory_ratio")
    fraction = resolved.get("mem_fraction_static")
    if type(fraction) is not Unknown:
        result.fraction = fraction
    if launch.gpu is not None and (launch.gpu.memory_bytes or launch.gpu.smi_mib):
        result.gpu_gib = memory_of(launch.gpu) / GIB
        if result.fraction is not None:
            result.static_gib = result.gpu_gib * result.fraction


def _ratio(result: StateMemory, program: Program, pools: Pools, inline: Location | None) -> None:
    """Note how many slots a request takes, where the number doesn't hang on the slots that fit."""
    if hasattr(type(pools.holder), _RATIO):
        result.slots_per_request = getattr(pools.holder, _RATIO)()
        result.places["slots per request"] = place_of(type(pools.holder), _RATIO)
    elif inline is not None:
        dotted = inline.path.removeprefix("python/").removesuffix(".py").replace("/", ".")
        count = getattr(program.import_module(dotted), NAME)
        with pools.fields(max_mamba_cache_size=1):
            result.slots_per_request = count(pools.holder, 1)
        result.places["slots per request"] = inline


def _one_more(result: StateMemory, pools: Pools, record: Any) -> Sized | None:
    """Return the first amount of memory sized again, with one draft token more."""
    if not isinstance(result.draft_tokens, int) or not result.sized:
        return None
    pools.publish(copy.copy(record))
    with pools.fields(speculative_num_draft_tokens=result.draft_tokens + 1):
        return _sized_now(result, pools, result.sized[0].rest_gib)


def _sized(result: StateMemory, pools: Pools, record: Any, rest: float) -> Sized:
    pools.publish(copy.copy(record))
    return _sized_now(result, pools, rest)


def _sized_now(result: StateMemory, pools: Pools, rest: float) -> Sized:
    try:
        left = pools.left_of(rest)
    except _REFUSALS as error:
        return Sized(rest, refusal=f"{type(error).__name__}: {error}")
    slots = pools.field("max_mamba_cache_size")
    sized = Sized(rest, slots=slots, left_gib=left)
    if result.slot_bytes:
        sized.beside_bytes = round((rest - left) * GIB) - slots * result.slot_bytes
    if result.slots_per_request:
        possible = slots // result.slots_per_request
        sized.requests = min(possible, result.running) if result.running else possible
    return sized
