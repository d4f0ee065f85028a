"""The report's part about the draft numbers: left to SGLang, or given."""

from __future__ import annotations

from indexer.explain.report.gather import Report, Varied
from indexer.explain.report.pieces import plain, section
from indexer.explain.report.variations import DRAFT_NUMBERS, DraftNumbers
from indexer.explain.report.variations_part import outcome

_TITLE = "Draft numbers: left to SGLang, or given"
_HEADS = ("steps, top-k, draft tokens", "", "become", "attention backend", "page size", "what else differs")
_ROLES = (
    ("", "attention_backend"), ("prefill ", "prefill_attention_backend"),
    ("decode ", "decode_attention_backend"), ("draft ", "speculative_draft_attention_backend"),
)  # fmt: skip
_IN_COLUMNS = {"page_size", *DRAFT_NUMBERS, *(name for _, name in _ROLES)}


def numbers_part(report: Report) -> str:
    """Return the part; nothing where the release has no flags that give the numbers."""
    left = Varied([], report.answer, report.start)
    varied = {tuple(one.added): one for one in report.variations}
    rows = []
    for numbers in report.draft_numbers:
        one = varied.get(tuple(numbers.added), left)
        verdict, told = outcome(report, one, _IN_COLUMNS)
        given = f"`{' '.join(numbers.added)}`" if numbers.added else "left to SGLang"
        become = "/".join(plain(numbers.values[name]) for name in DRAFT_NUMBERS if name in numbers.values)
        rows.append((given, verdict, become, _backends(numbers), _value(numbers, "page_size"), told))
    return section(_TITLE, _HEADS, rows) if len(rows) > 1 else ""


def _backends(numbers: DraftNumbers) -> str:
    told = [f"{role}{_value(numbers, name)}" for role, name in _ROLES if numbers.values.get(name) is not None]
    return ", ".join(told)


def _value(numbers: DraftNumbers, name: str) -> str:
    return f"`{plain(numbers.values[name])}`" if name in numbers.values else ""
