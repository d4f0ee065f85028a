"""The obvious variations of a launch: what people change next, taken from the flags there are."""

from __future__ import annotations

from indexer.explain.explanation import Explanation
from indexer.knowledge.schema import Flag, Model, Snapshot

_BACKENDS = ("flashinfer", "triton", "fa3", "fa4", "trtllm_mha", "flashmla")
_SWITCHES = (
    "disable_overlap_schedule", "disable_radix_cache", "enable_mixed_chunk", "enable_dp_attention",
    "enable_lora", "enable_linear_replayssm_spec", "speculative_adaptive", "enable_unified_memory",
)  # fmt: skip
_CHOSEN = ("mamba_radix_cache_strategy", "mamba_scheduler_strategy", "linear_attn_backend")
_VALUES = {
    "speculative_num_draft_tokens": ["16"],
    "page_size": ["64"],
    "pp_size": ["2"],
    "mamba_ssm_dtype": ["bfloat16"],
}
_HYBRID_ONLY = ("mamba", "linear")


def variations(snapshot: Snapshot, answer: Explanation, model: Model | None) -> list[list[str]]:
    """Return what to add to the launch, each variation a list of words; only flags of this version."""
    flags = {flag.dest: flag for flag in snapshot.flags if not flag.deprecated}
    found: list[list[str]] = []
    attention = flags.get("attention_backend")
    if attention is not None:
        choices = attention.choices if isinstance(attention.choices, list) else []
        chosen = answer.fields.get("attention_backend")
        found += [
            [_option(attention), backend]
            for backend in _BACKENDS
            if backend in choices and (chosen is None or chosen.resolved != backend)
        ]
    hybrid = model is not None and bool(model.hybrid)
    for dest in (*_CHOSEN, *_SWITCHES, *_VALUES):
        flag = flags.get(dest)
        if flag is None or (not hybrid and any(word in dest for word in _HYBRID_ONLY)):
            continue
        if dest in _SWITCHES:
            found.append([_option(flag)])
        elif dest in _VALUES:
            found += [[_option(flag), value] for value in _VALUES[dest]]
        elif isinstance(flag.choices, list):
            found += [[_option(flag), str(value)] for value in flag.choices if value != flag.default]
    tree = [flags.get(f"speculative_{name}") for name in ("num_steps", "eagle_topk", "num_draft_tokens")]
    if all(tree):
        values = ("3", "4", "8")
        found.append(
            [
                word
                for flag, value in zip(tree, values, strict=True)
                if flag
                for word in (_option(flag), value)
            ]
        )
    return found


_LEVERS: dict[str, list[str]] = {
    "mamba_ssm_dtype": ["bfloat16"],
    "mamba_radix_cache_strategy": ["extra_buffer_lazy"],
    "mamba_scheduler_strategy": ["extra_buffer"],
    "disable_radix_cache": [],
    "enable_linear_replayssm_spec": [],
}


def levers(snapshot: Snapshot, answer: Explanation) -> list[list[str]]:
    """Return what can be added to a launch to change the memory of its state; only flags of this version."""
    flags = {flag.dest: flag for flag in snapshot.flags if not flag.deprecated}
    found = []
    for dest, values in _LEVERS.items():
        flag, already = flags.get(dest), answer.fields.get(dest)
        if flag is None or (already is not None and [already.resolved] == values):
            continue
        if values and isinstance(flag.choices, list) and values[0] not in flag.choices:
            continue
        found.append([_option(flag), *values])
    return found


def _option(flag: Flag) -> str:
    return next((name for name in flag.option_strings if name.startswith("--")), flag.option_strings[0])
