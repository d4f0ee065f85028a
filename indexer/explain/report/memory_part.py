"""The report's part about the memory of the recurrent state: numbers, formula, levers."""

from __future__ import annotations

from indexer.explain.report.gather import Report
from indexer.explain.report.pieces import cite, cites_of, plain, table
from indexer.explain.start.facts import GIB, Sized, StateMemory
from indexer.knowledge.pairings import SLIDING_WINDOW

_TITLE = "## Memory of the recurrent state"
_MIB = 1 << 20
_HEADS = ("left for pools, GiB", "state slots", "beside them, GiB", "requests at once", "left for KV, GiB")


def memory_part(report: Report) -> str:
    """Return the part; nothing for a model without recurrent state."""
    memory = report.memory
    if memory is None:
        kind = (report.model.hybrid or {}).get("kind") if report.model is not None else None
        if kind is None or kind == SLIDING_WINDOW:
            return ""
        return f"{_TITLE}\n\nThis release keeps none for the given configuration of the model."
    parts = [_TITLE, "Per GPU, computed by running this release's own functions."]
    if memory.slot_bytes is not None:
        parts += [_slot(memory), _amount(report, memory), _sizes(memory), _levers(report, memory)]
    parts += [f"Not known: {one}" for one in memory.unknown]
    parts += [_flags(report), _path(report)]
    return "\n\n".join(part for part in parts if part)


def _slot(memory: StateMemory) -> str:
    conv = " + ".join("×".join(map(str, shape)) for shape in memory.conv)
    temporal = "×".join(map(str, memory.temporal))
    per = (
        f"{memory.slots_per_request} state slots {_at(memory, 'slots per request')}"
        if memory.slots_per_request
        else "a number of slots that this release does not compute in one place"
    )
    return (
        f"- One slot is {_size(memory.slot_bytes or 0)} {_at(memory, 'bytes of a slot')}: "
        f"{memory.layers} layers of conv {conv} {memory.conv_dtype} and state {temporal} "
        f"{memory.temporal_dtype}, as `{memory.config_class}` says {_at(memory, 'shape of the state')}.\n"
        f"- A running request takes {per}; at most {plain(memory.running)} requests run."
    )


def _amount(report: Report, memory: StateMemory) -> str:
    if memory.static_gib is None:
        return "The GPU's memory is not known (say which with --gpu): plain amounts are sized."
    told = (
        f"{memory.gpu_gib:.1f} GiB × mem_fraction_static {memory.fraction:.4g} = {memory.static_gib:.1f} GiB "
        "for weights and pools"
    )
    if report.weights_gib is not None:
        return f"{told}; weights take {report.weights_gib:.1f} GiB."
    return f"{told}. The weights are not known (--weights GIB says): several amounts are sized."


def _sizes(memory: StateMemory) -> str:
    rows = [_row(one) for one in memory.sized]
    text = table(_HEADS, rows)
    more = memory.one_more
    if more is not None and memory.draft_tokens is not None:
        text += (
            f"\n\nThe first row with {memory.draft_tokens + 1} draft tokens instead of "
            f"{memory.draft_tokens}: {_sentence(more)}."
        )
    return f"Sized by {_at(memory, 'slots that fit')}:\n\n{text}"


def _row(one: Sized) -> tuple[str, ...]:
    if one.refusal:
        return (f"{one.rest_gib:.1f}", "none", "", f"the server stops: {plain(one.refusal)}", "")
    requests = "not known" if one.requests is None else str(one.requests)
    return (
        f"{one.rest_gib:.1f}", str(one.slots), f"{(one.beside_bytes or 0) / GIB:.2f}", requests,
        f"{one.left_gib or 0:.1f}",
    )  # fmt: skip


def _sentence(one: Sized) -> str:
    if one.refusal:
        return f"the server stops: {plain(one.refusal)}"
    return (
        f"{one.slots} slots, {(one.beside_bytes or 0) / GIB:.2f} GiB beside them, "
        f"{one.left_gib or 0:.1f} GiB left for KV"
    )


def _levers(report: Report, memory: StateMemory) -> str:
    """Return what the obvious changes make of the first amount of memory."""
    rows = []
    for added, other in report.memory_levers:
        name = f"`{' '.join(added)}`"
        if other.slot_bytes is None or not other.sized:
            rows.append((name, "; ".join(other.unknown) or "not known", "", "", ""))
            continue
        first = other.sized[0]
        rows.append(
            (
                name,
                _size(other.slot_bytes),
                plain(other.slots_per_request),
                str(first.slots) if not first.refusal else "the server stops",
                plain(first.requests),
            )
        )
    if not rows:
        return ""
    heads = ("added", "a slot", "slots per request", "slots that fit", "requests at once")
    return f"Levers, at {memory.sized[0].rest_gib:.1f} GiB:\n\n{table(heads, rows)}"


def _flags(report: Report) -> str:
    names = ", ".join(f"`{flag.option_strings[0]}` {cite(flag.declared_at)}" for flag in report.memory_flags)
    return f"Flags that these functions read: {names}." if names else ""


def _path(report: Report) -> str:
    if report.memory_path is None:
        return ""
    steps = [step for step in report.memory_path.steps if step.waypoint]
    lines = [
        f"{number}. `{step.function}` {cite(step.at)}"
        + (f"; {cites_of(step.anchors)}" if step.anchors else "")
        for number, step in enumerate(steps, 1)
    ]
    return "In the source:\n\n" + "\n".join(lines)


def _at(memory: StateMemory, what: str) -> str:
    return cite(memory.places.get(what))


def _size(count: int) -> str:
    return f"{count:,} bytes ({count / _MIB:.2f} MiB)"
