"""What a drift run has to say, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.drift.baseline import Accepted
from indexer.drift.change import DOC, LEVELS, MEANING, RULES, START, Change
from indexer.drift.report import render as render_report
from indexer.drift.report.record import HINT, Finding, Report, RuleInfo, with_fingerprints
from indexer.drift.usage import Mention
from indexer.knowledge.schema import Location

LEVEL_TITLES = {
    START: "a command that started no longer does",
    MEANING: "the same command means something else",
    DOC: "new things, help texts and lines",
}


class Outcome(msgspec.Struct, kw_only=True):
    """The result of a run: the changes to show, counts of all, and notes about the comparison."""

    old: str
    new: str
    changes: list[Change]
    counts: dict[str, int]
    notes: list[str] = []
    mentions: dict[str, list[Mention]] = {}
    stale: list[Accepted] = []
    accepted: int = 0

    def places(self, change: Change) -> list[Mention]:
        """Return where the user's files meet a change (with ``--used-in``)."""
        return self.mentions.get(change.fingerprint, [])


def render(outcome: Outcome, format_name: str) -> str:
    """Return the outcome as text, json, markdown, sarif, github or junit."""
    own = {"text": _text, "json": _json, "markdown": _markdown}.get(format_name)
    return own(outcome) if own else render_report(_report(outcome), format_name)


def _text(outcome: Outcome) -> str:
    lines = [f"sglang {outcome.old} → {outcome.new}: {_counts(outcome)}{_how_to_see(outcome)}"]
    lines += [f"note: {note}" for note in outcome.notes]
    for level, changes in _by_level(outcome):
        lines += ["", f"{level}: {LEVEL_TITLES[level]}"]
        for change in changes:
            lines.append(f"  {change.message}  [{change.code}]")
            lines += [f"      {where}" for where in _where(outcome, change)]
            if use := _unsaid(change):
                lines.append(f"      use {use}")
    lines += [f"baseline: no longer needed: {entry.fingerprint} {entry.what}" for entry in outcome.stale]
    return "\n".join(lines) + "\n"


def _counts(outcome: Outcome) -> str:
    counts = ", ".join(f"{outcome.counts.get(level, 0)} {level}" for level in LEVELS)
    return counts + (f", {outcome.accepted} accepted" if outcome.accepted else "")


def _how_to_see(outcome: Outcome) -> str:
    shown = {change.level for change in outcome.changes}
    hidden = [level for level in LEVELS if outcome.counts.get(level) and level not in shown]
    return f" (--level {hidden[-1]} shows them)" if hidden else ""


def _by_level(outcome: Outcome) -> Iterator[tuple[str, list[Change]]]:
    for level in LEVELS:
        if found := [change for change in outcome.changes if change.level == level]:
            yield level, found


def _where(outcome: Outcome, change: Change) -> list[str]:
    lines = [f"{m.file}:{m.line}:{m.column}: {m.text}" for m in outcome.places(change)]
    sides = [f"{side} {_place(at)}" for side, at in (("was", change.old_at), ("now", change.new_at)) if at]
    return lines + [", ".join(sides)] * bool(sides)


def _unsaid(change: Change) -> str | None:
    """Return what to use instead, where the message does not say it."""
    use = change.replacement
    return use if use and f"use {use}" not in change.message else None


def _place(at: Location) -> str:
    return f"{at.path}:{at.line}"


def _json(outcome: Outcome) -> str:
    changes = []
    for change in outcome.changes:
        fields: dict[str, Any] = msgspec.to_builtins(change)
        for name in ("old_at", "new_at"):
            at = getattr(change, name)
            fields[name] = {"path": at.path, "line": at.line} if at else None
        fields["fingerprint"] = change.fingerprint
        if places := outcome.places(change):
            fields["used_at"] = [m._asdict() for m in places]
        changes.append(fields)
    body = {
        "old": outcome.old,
        "new": outcome.new,
        "counts": {level: outcome.counts.get(level, 0) for level in LEVELS},
        "notes": outcome.notes,
        "accepted": outcome.accepted,
        "stale": [msgspec.to_builtins(entry) for entry in outcome.stale],
        "changes": changes,
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def _markdown(outcome: Outcome) -> str:
    lines = [f"### SGLang {outcome.old} → {outcome.new}: {_counts(outcome)}", ""]
    lines += [f"> {note}\n" for note in outcome.notes]
    for level, changes in _by_level(outcome):
        lines += [
            f"#### {level}: {LEVEL_TITLES[level]}",
            "",
            "| what | was | now | use |",
            "|---|---|---|---|",
        ]
        for change in changes:
            old_at, new_at = (f"`{_place(at)}`" if at else "" for at in (change.old_at, change.new_at))
            use = f"`{change.replacement}`" if change.replacement else ""
            lines.append(f"| {change.message.replace('|', chr(92) + '|')} | {old_at} | {new_at} | {use} |")
        lines.append("")
    lines += [
        f"- baseline entry no longer needed: {entry.fingerprint} {entry.what}" for entry in outcome.stale
    ]
    return "\n".join(lines) + "\n"


def _report(outcome: Outcome) -> Report:
    """Return the outcome as findings of the common reporters, in the user's files where they are known."""
    findings = []
    for change in outcome.changes:
        level = HINT if change.level == DOC else change.level
        at = change.new_at or change.old_at
        here = outcome.places(change) or [
            Mention(at.path if at else "sglang", at.line if at else 1, 1, change.name)
        ]
        findings += [
            Finding(
                code=change.code,
                level=level,
                file=place.file,
                line=place.line,
                column=place.column,
                width=len(place.text),
                message=change.message,
                version=outcome.new,
                flag=change.name,
                replacement=_unsaid(change),
                at=_place(at) if at else None,
            )
            for place in here
        ]
    return Report(
        findings=with_fingerprints(findings),
        files=sorted({finding.file for finding in findings}),
        rules={code: _rule(code) for code in sorted({change.code for change in outcome.changes})},
        suppressed=outcome.accepted,
        tool="indexer drift",
    )


def _rule(code: str) -> RuleInfo:
    rule = RULES[code]
    return RuleInfo(code, HINT if rule.level == DOC else rule.level, rule.title, rule.effect)
