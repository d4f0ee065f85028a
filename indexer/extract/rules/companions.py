"""Which log line announces an override: the one in the same block with the same guard."""

from __future__ import annotations

from indexer.extract.rules.emit import Draft

_FARTHEST_LINES = 15


def attach_companions(drafts: list[Draft]) -> None:
    """Give each override the message of the nearest log line of its block."""
    logs: dict[tuple[str, str, int], list[Draft]] = {}
    for draft in drafts:
        if draft.is_log:
            logs.setdefault(draft.block, []).append(draft)
    for draft in drafts:
        rule = draft.rule
        if rule.kind != "override":
            continue
        near = [one.rule for one in logs.get(draft.block, ()) if one.rule.bindings == rule.bindings]
        if near:
            best = min(near, key=lambda one: (abs(one.at.line - rule.at.line), one.at.line))
            if abs(best.at.line - rule.at.line) <= _FARTHEST_LINES:
                rule.message, rule.companion = best.message, best.id
