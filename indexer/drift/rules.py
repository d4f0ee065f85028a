"""What changed about the rules of the resolver and the start-up checks: messages, and values written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.drift.change import Change, change
from indexer.knowledge.schema import Rule
from indexer.knowledge.timeline import guard_text, message_key, plain

_STOPS = ("error", "assert")


def rule_changes(old: Sequence[Rule], new: Sequence[Rule]) -> Iterator[Change]:
    """Yield the changes of messages (errors, assertions, warnings, notices) and of overrides."""
    yield from _message_changes(_by_key(old), _by_key(new))
    yield from _override_changes(_overrides(old), _overrides(new))


def _by_key(rules: Sequence[Rule]) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for rule in rules:
        if (key := message_key(rule)) is not None:
            found.setdefault(key, rule)
    return found


def _message_changes(old: dict[str, Rule], new: dict[str, Rule]) -> Iterator[Change]:
    for key, rule in new.items():
        was = old.get(key)
        if was is None:
            code = "rule-refuses" if rule.kind in _STOPS else "rule-says"
            yield _change(code, key, f"new {_named(rule)}{_when(rule)}", None, rule)
        elif was.kind != rule.kind:
            code = "rule-refuses" if rule.kind in _STOPS and was.kind not in _STOPS else "rule-kind"
            yield _change(code, key, f"{_named(rule)}: was {_article(was.kind)}", was, rule)
        elif guard_text(was) != guard_text(rule):
            code = "rule-guard" if rule.kind in _STOPS else "rule-says-when"
            yield _change(code, key, f"{_named(rule)}: now{_when(rule)}; was{_when(was)}", was, rule)
    for key, rule in old.items():
        if key not in new:
            code = "rule-gone" if rule.kind in _STOPS else "rule-silent"
            yield _change(code, key, f"gone: {_named(rule)}", rule, None)


_Override = tuple[tuple[str, ...], tuple[str, ...], str]
"""Fields, values and guard."""


def _overrides(rules: Sequence[Rule]) -> dict[_Override, Rule]:
    found: dict[_Override, Rule] = {}
    for rule in rules:
        if rule.kind == "override" and rule.targets:
            values = tuple(map(plain, rule.values))
            found.setdefault((tuple(rule.targets), values, guard_text(rule)), rule)
    return found


def _override_changes(old: dict[_Override, Rule], new: dict[_Override, Rule]) -> Iterator[Change]:
    gone = {key: rule for key, rule in old.items() if key not in new}
    fresh = {key: rule for key, rule in new.items() if key not in old}
    for same in (2, 1):  # first those that write the same under another condition, then another value
        for key, rule in list(fresh.items()):
            partner = next((other for other in gone if _alike(other, key, same)), None)
            if partner is None:
                continue
            was = gone.pop(partner)
            del fresh[key]
            yield _change("rule-override", _written(rule), _told(rule, was, same), was, rule)
    for rule in fresh.values():
        yield _change("rule-override", _written(rule), f"new: {_written(rule)}{_when(rule)}", None, rule)
    for rule in gone.values():
        yield _change("rule-override", _written(rule), f"gone: {_written(rule)}{_when(rule)}", rule, None)


def _alike(one: _Override, other: _Override, same: int) -> bool:
    return one[:2] == other[:2] if same == 2 else (one[0], one[2]) == (other[0], other[2])


def _told(rule: Rule, was: Rule, same: int) -> str:
    if same == 2:
        return f"{_written(rule)}: now{_when(rule)}; was{_when(was)}"
    return f"{_written(rule)}{_when(rule)}; was {_written(was)}"


def _written(rule: Rule) -> str:
    values = [plain(value) for value in rule.values]
    if len(values) != len(rule.targets):
        return ", ".join(rule.targets) + (f" = {', '.join(values)}" if values else " changes")
    return "; ".join(f"{name} = {value}" for name, value in zip(rule.targets, values, strict=True))


def _named(rule: Rule) -> str:
    said = " ".join((rule.message or "").split()) or (
        f"assert {plain(rule.values[0])}" if rule.values else ""
    )
    kind = f"{rule.kind} ({rule.exception})" if rule.exception and rule.kind in _STOPS else rule.kind
    return f"{kind} “{said}”"


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _when(rule: Rule) -> str:
    guard = guard_text(rule)
    return f" when {guard}" if guard else " always"


def _change(code: str, name: str, message: str, old: Rule | None, new: Rule | None) -> Change:
    return change(
        code,
        "rules",
        name,
        message,
        old=guard_text(old) if old else None,
        new=guard_text(new) if new else None,
        old_at=old.at if old else None,
        new_at=new.at if new else None,
    )
