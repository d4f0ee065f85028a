"""What differs between two accepted launches of one release, in the words of a report."""

from __future__ import annotations

from collections.abc import Collection

from indexer.explain.explanation import Explanation, FieldChange
from indexer.explain.report.pieces import plain

_FIRST = (
    "attention_backend", "prefill_attention_backend", "decode_attention_backend", "page_size",
    "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens",
    "disable_overlap_schedule", "disable_radix_cache", "max_running_requests",
)  # fmt: skip
"""Fields that matter most to who launches: told first."""


def differences(before: Explanation, after: Explanation, given: Collection[str]) -> dict[str, str]:
    """Return, by field, what a changed launch makes of it that the launch before doesn't.

    ``given`` are the fields that the change sets: of them is told what SGLang does not leave as given.
    """
    told: dict[str, str] = {}
    for name, change in after.fields.items():
        earlier = before.fields.get(name)
        if name in given:
            told[name] = f"{values(change)} instead of the {_code(change.asked)} given"
        elif earlier is None or _possible(earlier) != _possible(change):
            told[name] = values(change)
    for name, change in before.fields.items():
        if name not in after.fields and name not in given:
            told[name] = f"{_code(change.asked)}, as asked"
    order = sorted(told, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return {name: f"`{name}` = {told[name]}" for name in order}


def values(change: FieldChange) -> str:
    """Return the value of a field, or those it may have."""
    return " or ".join(dict.fromkeys(_code(one) for one in _possible(change)))


def _possible(change: FieldChange) -> list:
    return change.possible or [change.resolved]


def _code(value: object) -> str:
    return f"`{plain(value)}`"
