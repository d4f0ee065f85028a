"""A message through the releases: since when it is written, until when, and how its rule changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from indexer.knowledge.schema import Location, Rule
from indexer.record_names import VIEW_FUNCTIONS, VIEW_METHODS
from indexer.templates import template_key

_RECEIVER = re.compile(
    rf"\b(?:self\.server_args|server_args|self|cfg|view|(?:{'|'.join(VIEW_FUNCTIONS)})\([^()]*\)"
    rf"|self\.(?:{'|'.join(VIEW_METHODS)})\(\)|get_\w+\(\)(?:\.\w+)?)\.(?=[a-z_])"
)
_REWORDED = 80.0
"""Least likeness (0-100) of a message that took the place of another in the same release."""

Versions = Sequence[tuple[str, Sequence[Rule]]]
"""Versions with their rules, oldest first."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """What changed about a message's rule in ``version``: its ``kind``, ``guard``, ``function`` or
    ``exception``, with the old and the new value."""

    version: str
    what: str
    old: str
    new: str


class Timeline(msgspec.Struct, omit_defaults=True):
    """One message. ``spans`` are the unbroken ranges of versions that have it, ``current`` tells that
    the last one is the newest read. ``became`` / ``came_from`` are the keys of the messages it gave
    way to and took the place of."""

    key: str
    message: str
    kind: str
    spans: list[tuple[str, str]]
    current: bool
    at: Location
    rules: dict[str, str] = {}
    changes: list[Change] = []
    became: str | None = None
    came_from: str | None = None


def message_key(rule: Rule) -> str | None:
    """Return what identifies a rule's message across releases; a bare assertion is its expression.

    None for a rule that says nothing of its own (an override, whose message is its log line's).
    """
    if rule.kind == "override":
        return None
    if rule.message is not None and len(key := template_key(rule.message)) > 2:
        return key
    return f"assert {plain(rule.values[0])}" if rule.kind == "assert" and rule.values else None


def message_timelines(versions: Versions) -> list[Timeline]:
    """Return the timeline of every message of any version, by first appearance."""
    names = [version for version, _ in versions]
    seen: dict[str, dict[int, list[Rule]]] = {}
    for index, (_, rules) in enumerate(versions):
        for rule in rules:
            if (key := message_key(rule)) is not None:
                seen.setdefault(key, {}).setdefault(index, []).append(rule)
    timelines = {key: _timeline(key, at, names) for key, at in seen.items()}
    _link_rewordings(timelines, names)
    return sorted(timelines.values(), key=lambda one: (names.index(one.spans[0][0]), one.key))


def timeline_of(rule: Rule, versions: Versions) -> Timeline | None:
    """Return the timeline of one rule's message, None for a rule that has none."""
    key = message_key(rule)
    return next((one for one in message_timelines(versions) if one.key == key), None) if key else None


def _timeline(key: str, rules: dict[int, list[Rule]], names: list[str]) -> Timeline:
    indexes = sorted(rules)
    at: dict[int, Rule] = {}
    for index in indexes:
        before = at.get(indexes[len(at) - 1]) if at else None
        at[index] = _likest(rules[index], before)
    spans: list[tuple[int, int]] = []
    for index in indexes:
        if spans and spans[-1][1] == index - 1:
            spans[-1] = (spans[-1][0], index)
        else:
            spans.append((index, index))
    last = at[indexes[-1]]
    return Timeline(
        key=key,
        message=last.message or f"assert {last.values[0]}",
        kind=last.kind,
        spans=[(names[first], names[end]) for first, end in spans],
        current=spans[-1][1] == len(names) - 1,
        at=last.at,
        rules=_folded({names[index]: at[index].id for index in indexes}),
        changes=[
            change
            for before, after in pairwise(indexes)
            for change in _changes(at[before], at[after], names[after])
        ],
    )


def _likest(rules: list[Rule], before: Rule | None) -> Rule:
    """Return the rule that continues the one of the version before: several may say the same."""
    if before is None or len(rules) == 1:
        return rules[0]
    guard, leaf = guard_text(before), _leaf(before)
    return max(rules, key=lambda one: (guard_text(one) == guard, _leaf(one) == leaf))


def _folded(ids: dict[str, str]) -> dict[str, str]:
    """Keep a version's rule id only where it differs from the version before."""
    kept: dict[str, str] = {}
    last = None
    for version, one in ids.items():
        if one != last:
            kept[version] = last = one
    return kept


def _changes(old: Rule, new: Rule, version: str) -> Iterable[Change]:
    pairs = (
        ("kind", old.kind, new.kind),
        ("exception", old.exception or "", new.exception or ""),
        (
            "function",
            old.function.rpartition(".")[2].lstrip("_"),
            new.function.rpartition(".")[2].lstrip("_"),
        ),
        ("guard", guard_text(old), guard_text(new)),
    )
    return (Change(version, what, before, after) for what, before, after in pairs if before != after)


def guard_text(rule: Rule) -> str:
    """Return the rule's own tests, without receivers (``self.``, ``cfg.``): equal across layouts."""
    own = [one for one in rule.guard if one.how in ("if", "else", "case", "loop", "return")]
    return " and ".join(plain(one.text) if one.holds else f"not ({plain(one.text)})" for one in own)


def _leaf(rule: Rule) -> str:
    return rule.function.rpartition(".")[2].lstrip("_")


def plain(text: str) -> str:
    """Return an expression without the names of the record that hold its fields."""
    return _RECEIVER.sub("", text)


def _link_rewordings(timelines: dict[str, Timeline], names: list[str]) -> None:
    """Join a message that ends where a like one begins."""
    from rapidfuzz import fuzz, process

    ending: dict[int, list[Timeline]] = {}
    starting: dict[int, list[Timeline]] = {}
    for one in timelines.values():
        starting.setdefault(names.index(one.spans[0][0]), []).append(one)
        if not one.current:
            ending.setdefault(names.index(one.spans[-1][1]) + 1, []).append(one)
    for index, gone in ending.items():
        fresh = {one.key: one.key for one in starting.get(index, ()) if one.came_from is None}
        for old in gone:
            found = process.extractOne(old.key, fresh, scorer=fuzz.ratio, score_cutoff=_REWORDED)
            if found is not None:
                old.became, timelines[found[2]].came_from = found[2], old.key
                del fresh[found[2]]
