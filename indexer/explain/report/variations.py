"""The obvious variations of a launch: what people change next, taken from the flags there are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from indexer.explain.explanation import MAY, STARTS, Explanation
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
DRAFT_NUMBERS = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")
"""The fields that say how many tokens are drafted, in the order people write their values: 3/1/4."""
_GO_WITH_NUMBERS = (
    "attention_backend", "prefill_attention_backend", "decode_attention_backend",
    "speculative_draft_attention_backend", "page_size",
)  # fmt: skip
_CHAIN: list[Any] = [3, 1, 4]
_TREE: list[Any] = [3, 4, 8]


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
    return found + numbers_to_give(snapshot, answer)


def numbers_to_give(snapshot: Snapshot, answer: Explanation) -> list[list[str]]:
    """Return ways of giving how many tokens are drafted, each a list of words; only flags of this version.

    First come the numbers that SGLang chooses for the launch, as far as they are known: that they are
    given, not what they are, makes a release choose other things too.
    """
    flags = {flag.dest: flag for flag in snapshot.flags if not flag.deprecated}
    named = [flags[dest] for dest in DRAFT_NUMBERS if dest in flags]
    chosen = [answer.speculative.get(flag.dest) for flag in named]
    values = [chosen] if any(type(one) is int for one in chosen) else []
    if len(named) == len(DRAFT_NUMBERS):
        values += [one for one in (_CHAIN, _TREE) if one != chosen]
    return [
        [
            word
            for flag, value in zip(named, one, strict=True)
            if type(value) is int
            for word in (_option(flag), str(value))
        ]
        for one in values
    ]


class DraftNumbers(msgspec.Struct):
    """How many tokens are drafted, left to SGLang (nothing ``added``) or given, and what goes with that.

    ``values`` are the resolved numbers, attention backends and page size, as far as they are certain.
    """

    added: list[str]
    values: dict[str, Any]


def numbers_and_backends(
    snapshot: Snapshot, argv: list[str], added: list[str], answer: Explanation
) -> DraftNumbers:
    """Return what a launch makes of the draft numbers and of the fields that hang on them.

    A value is what SGLang chose, else what is given, else the default; one that isn't certain is left out,
    and all are where the launch isn't accepted.
    """
    flags = {flag.dest: flag for flag in snapshot.flags}
    given = dict(pairwise([*argv, *added]))
    found = {}
    for name in (*_GO_WITH_NUMBERS, *DRAFT_NUMBERS) if answer.outcome == STARTS else ():
        flag, change = flags.get(name), answer.fields.get(name)
        if change is not None:
            if change.certainty != MAY:
                found[name] = change.resolved
        elif name in answer.speculative:
            found[name] = answer.speculative[name]
        elif flag is not None:
            found[name] = next((given[one] for one in flag.option_strings if one in given), flag.default)
    return DraftNumbers(added, found)


def fields_set(snapshot: Snapshot, words: list[str]) -> list[str]:
    """Return the fields that words of a command line set."""
    return [flag.dest for flag in snapshot.flags if set(flag.option_strings) & set(words)]


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
