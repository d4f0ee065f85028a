"""An explanation as text for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from typing import Any

from indexer.explain.explanation import (
    DRAFT_NOT_LOOKED_UP,
    MAY,
    REFUSED,
    RESERVATIONS,
    STARTS,
    Explanation,
    Refusal,
)
from indexer.explain.hints import hints
from indexer.knowledge.schema import Location

WIDTH = 80
_MOST_HINTS = 4


def render(answers: list[Explanation]) -> str:
    """Return one version's answer in full, or a table of several versions."""
    return _one(answers[0]) if len(answers) == 1 else _table(answers)


def place(at: Location | None) -> str:
    """Return a location as ``path:line`` without the repository's leading folders."""
    return f"{at.path.removeprefix('python/')}:{at.line}" if at else "(no line)"


def _one(answer: Explanation) -> str:
    lines = [f"SGLang {answer.version}: {_headline(answer)}"]
    decide = hints(answer) if answer.outcome not in (STARTS, REFUSED) else []
    if decide:
        lines += _wrap(f"what would decide it: {'; '.join(decide[:_MOST_HINTS])}", "  ")
    for fact in answer.reservations:
        lines += [*_wrap(f"but {fact.reason}", "  "), f"      {place(fact.at)}"]
    for refusal in [answer.refusal] if answer.refusal else answer.refusals:
        lines += _refusal(refusal)
    for certain, title in ((True, "Changed by SGLang"), (False, "May be changed")):
        rows = [(name, one) for name, one in answer.fields.items() if (one.certainty != MAY) is certain]
        if rows:
            lines += ["", title]
        for name, one in rows:
            if one.possible:
                became = " or ".join(dict.fromkeys(_value(value) for value in one.possible))
            else:
                became = _value(one.resolved)
            lines += _wrap(f"{name}: {_value(one.asked)} -> {became}", "  ")
            lines += [f"      {place(cause.at)}" for cause in one.by[-2:]]
    warnings = [event for event in answer.events if event.level in ("warning", "error", "critical")]
    if warnings:
        lines += ["", "Warnings"]
        for event in warnings:
            mark = "" if event.certainty != MAY else "(perhaps) "
            lines += _wrap(mark + event.message, "  ")
            lines.append(f"      {place(event.at)}")
    unknowns = [fact for fact in answer.unknowns if fact.what not in RESERVATIONS]
    if unknowns:
        lines += ["", "Not known"]
        for fact in unknowns[:20]:
            lines += _wrap(f"{fact.what}: {fact.reason}", "  ")
            if fact.at:
                lines.append(f"      {place(fact.at)}")
        if len(unknowns) > 20:
            lines.append(f"  and {len(unknowns) - 20} more (--json shows all)")
    if answer.assumed:
        lines += ["", "Taken for granted"]
        for text in answer.assumed:
            lines += _wrap(text, "  ")
    return "\n".join(lines)


def _headline(answer: Explanation) -> str:
    if answer.outcome == STARTS:
        if answer.reservations:
            return "its arguments are accepted, but the server can't serve"
        return "starts (its arguments are accepted)"
    if answer.outcome == REFUSED:
        return "is refused" + ("" if answer.refusal and not answer.refusals else ", by one of these rules")
    return "may be refused" if answer.refusals else "can't be known"


def _refusal(refusal: Refusal) -> list[str]:
    said = refusal.message.strip() or "(no message)"
    return [*_wrap(f"{refusal.exception}: {said}", "  "), f"      {place(refusal.at)}"]


def _table(answers: list[Explanation]) -> str:
    width = max(len(answer.version) for answer in answers)
    groups: list[tuple[list[Explanation], str]] = []
    for answer in answers:
        text = _summary(answer)
        if groups and groups[-1][1] == text:
            groups[-1][0].append(answer)
        else:
            groups.append(([answer], text))
    lines = []
    for members, text in groups:
        first, last = members[0].version, members[-1].version
        label = first if first == last else f"{first} to {last}"
        body = textwrap.wrap(text, WIDTH - 2 * width - 6) or [""]
        lines.append(f"{label:<{2 * width + 4}}  {body[0]}")
        lines += [" " * (2 * width + 6) + rest for rest in body[1:]]
    notes = [fact.reason for one in answers for fact in one.unknowns if fact.what == DRAFT_NOT_LOOKED_UP]
    if notes:
        others = len(notes) - 1
        more = f" (and so for {others} release{'s' * (others > 1)} more)" if others else ""
        lines += ["", *_wrap(f"Not known: {notes[0]}{more}", "")]
    return "\n".join(lines)


def _summary(answer: Explanation) -> str:
    if answer.outcome == STARTS:
        shown = (
            "speculative_algorithm", "speculative_num_steps", "speculative_eagle_topk",
            "speculative_num_draft_tokens", "disable_radix_cache", "disable_overlap_schedule",
            "attention_backend", "page_size", "max_running_requests",
        )  # fmt: skip
        changed = [
            f"{name}={_value(one.resolved)}" + ("?" if one.certainty == MAY else "")
            for name, one in answer.fields.items()
            if name in shown
        ]
        reservations = "; and ".join(fact.reason for fact in answer.reservations)
        starts = "starts" if answer.looked_up else "accepted, draft not looked up"
        verdict = f"accepted, but {reservations}" if reservations else starts
        return f"{verdict}; {', '.join(changed)}" if changed else verdict
    refusals = [answer.refusal] if answer.refusal else answer.refusals
    if refusals and refusals[0] is not None:
        word = "refused" if answer.outcome == REFUSED else "may be refused"
        first = refusals[0].message.strip().splitlines()
        return f"{word}: {refusals[0].exception}: {first[0] if first else '(no message)'}"
    return "can't be known: " + (answer.unknowns[0].reason if answer.unknowns else "")


def _value(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"unknown"}:
        return f"? ({value['unknown']})"
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False
    )
