"""The story of one flag, algorithm or variable: what happened to it, release by release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from indexer.knowledge.facts import AlgorithmFact, EnvFact, FlagFact
from indexer.knowledge.history import History, exists, option_strings
from indexer.knowledge.history_file import Track
from indexer.knowledge.schema import Location, Value
from indexer.knowledge.values import plain_form

_SHAPES: dict[str, type] = {"flags": FlagFact, "algorithms": AlgorithmFact, "env_vars": EnvFact}
_TOLD = {
    "flags": ("dest", "action", "nargs", "type", "const", "default", "fallback", "required"),
    "algorithms": ("cli",),
    "env_vars": ("type", "default"),
}
"""Attributes whose changes are told with both values; the rest has words of its own."""

_LABELS = {"fallback": "value when unset", "cli": "can be asked for by name"}
_LISTED = 8


SUPPRESS = "==SUPPRESS=="
"""Argparse's mark of a flag that sets nothing unless it is given."""


class Event(msgspec.Struct, omit_defaults=True):
    """Something that happened in ``version`` (the first release that has it).

    ``at`` is the place there; for what is gone, the last place, in ``at_version``. ``likely`` marks
    what was concluded from similarity.
    """

    version: str
    what: str
    text: str
    at: Location | None = None
    at_version: str | None = None
    old: Value = None
    new: Value = None
    likely: bool = False


class Story(msgspec.Struct, omit_defaults=True):
    """All events of one thing. ``kind`` is ``flag``, ``algorithm`` or ``env``, ``name`` its spelling as
    asked for, ``current`` whether the newest covered release has it, ``taken_for`` the variable that this
    release sets from one which it has no more."""

    kind: str
    name: str
    first: str
    last: str
    current: bool
    events: list[Event]
    taken_for: str | None = None


class _Stage(NamedTuple):
    """The state of the thing asked for in one release."""

    at: int
    track: Track
    fact: Any


def flag_story(history: History, option: str) -> Story | None:
    """Return the story of an option string (``--x``), through the flags it belonged to; None if there
    never was one."""
    owners = history.owners(option)
    stages = [_Stage(at, owners[at], history.fact(owners[at], FlagFact, at)) for at in sorted(owners)]
    return _story(history, "flag", option, stages)


def algorithm_story(history: History, name: str) -> Story | None:
    """Return the story of an algorithm, or of a spelling of one."""
    stages = {}
    for track in history.tracks("algorithms"):
        for first, last in track.spans:
            for at in range(first, last + 1):
                fact = history.fact(track, AlgorithmFact, at)
                if track.name == name or (name in fact.aliases and at not in stages):
                    stages[at] = _Stage(at, track, fact)
    return _story(history, "algorithm", name, [stages[at] for at in sorted(stages)])


def env_story(history: History, name: str) -> Story | None:
    """Return the story of an environment variable."""
    for track in history.tracks("env_vars"):
        if track.name == name:
            stages = [
                _Stage(at, track, history.fact(track, EnvFact, at))
                for at in range(len(history.versions))
                if exists(track, at)
            ]
            return _story(history, "env", name, stages)
    return None


def _story(history: History, kind: str, name: str, stages: list[_Stage]) -> Story | None:
    if not stages:
        return None
    versions = history.versions
    events = []
    before: _Stage | None = None
    for stage in stages:
        if before is None or before.at != stage.at - 1:
            if before is not None:
                events.append(_removed(history, name, before))
            events.append(_appeared(history, kind, name, stage, again=before is not None))
        else:
            events += _changes(history, kind, name, before, stage)
        before = stage
    if stages[-1].at != len(versions) - 1:
        events.append(_removed(history, name, stages[-1]))
    # Of a variable that is only named in a notice the story is over.
    lived = [stage for stage in stages if getattr(stage.fact, "is_setting", True)] or stages
    current = lived[-1].at == len(versions) - 1
    events += _rename_events(history, name, events)
    events.sort(key=lambda event: (history.index(event.version), _ORDER.index(event.what)))
    taken = history.env_rewritten(name, versions[-1]) if kind == "env" else None
    first, last = versions[lived[0].at], versions[lived[-1].at]
    return Story(kind, name, first, last, current, events, taken.name if taken else None)


_ORDER = (
    "renamed-from",
    "appeared",
    "declared",
    "spelling",
    "changed",
    "choices",
    "deprecated",
    "undeclared",
    "renamed-to",
    "removed",
)


def _place(fact: Any) -> Location | None:
    return fact.declared_at or getattr(fact, "read_at", None)


def _appeared(history: History, kind: str, name: str, stage: _Stage, again: bool) -> Event:
    fact = stage.fact
    if kind == "env":
        told = f"default {_show(fact.default)}" if fact.declared else "read, never declared"
    elif kind == "algorithm":
        told = f"a spelling of {fact.name}" if name != fact.name else ""
    else:
        told = f"default {_show(fact.default)}"
        if name != fact.option_strings[0]:
            told = f"a spelling of {fact.option_strings[0]}, {told}"
        if isinstance(fact.choices, list):
            told += f", takes {_listed(fact.choices)}"
    text = ("back" if again else _beginning(stage.at)) + (f": {told}" if told else "")
    return _event(history, stage, "appeared", text, new=getattr(fact, "default", None))


def _beginning(at: int) -> str:
    return "appeared" if at else "there since before the history begins"


def _removed(history: History, name: str, last: _Stage) -> Event:
    """Tell that the thing is gone, with its last place and what the spelling means from then on."""
    version = history.versions[last.at + 1]
    text = f"gone (last in {history.versions[last.at]})"
    if isinstance(last.fact, EnvFact) and not last.fact.is_setting:
        text = f"the notice is gone too (last in {history.versions[last.at]})"
    taken = history.env_rewritten(name, version) if isinstance(last.fact, EnvFact) else None
    if taken is not None:
        text = f"no setting of its own any more (last in {history.versions[last.at]}): {taken.told}"
    if isinstance(last.fact, FlagFact):
        options = {
            o
            for track in history.tracks("flags")
            if exists(track, last.at + 1)
            for o in option_strings(track, last.at + 1)
        }
        if matches := sorted(option for option in options if option.startswith(name)):
            text += (
                f"; ambiguous now: could match {', '.join(matches)}"
                if len(matches) > 1
                else f"; argparse takes it as {matches[0]}"
            )
    return Event(version, "removed", text, _place(last.fact), history.versions[last.at])


def _changes(history: History, kind: str, name: str, old: _Stage, new: _Stage) -> Iterator[Event]:
    attributes = _TOLD[{"flag": "flags", "algorithm": "algorithms", "env": "env_vars"}[kind]]
    for attribute in attributes:
        was, now = getattr(old.fact, attribute), getattr(new.fact, attribute)
        if attribute in ("action", "const") and getattr(new.fact, "deprecated", None):
            continue  # told as the deprecation
        # A variable without a declaration has no type and default: that is told as such.
        if was == now or (kind == "env" and not (old.fact.declared and new.fact.declared)):
            continue
        label = _LABELS.get(attribute, attribute)
        yield _event(history, new, "changed", f"{label} {_show(was)} → {_show(now)}", was, now)
    if kind == "env":
        yield from _env_changes(history, old, new)
    if kind == "flag":
        yield from _flag_changes(history, name, old, new)
    if kind == "algorithm" and old.fact.name != new.fact.name:
        yield _event(history, new, "spelling", f"meant {old.fact.name}, now {new.fact.name}")
    if kind == "algorithm" and name == new.fact.name and old.fact.aliases != new.fact.aliases:
        yield from _list_changes(history, new, "spelling", "spellings", old.fact.aliases, new.fact.aliases)
    deprecated = getattr(new.fact, "deprecated", None)
    if deprecated is not None and getattr(old.fact, "deprecated", None) != deprecated:
        use = f", use {deprecated.replacement}" if deprecated.replacement else ""
        raises = ", using it stops the start" if deprecated.raises else ""
        yield _event(history, new, "deprecated", f"deprecated{raises}{use}")


def _env_changes(history: History, old: _Stage, new: _Stage) -> Iterator[Event]:
    if old.fact.is_setting and not new.fact.is_setting:
        told = f"a {new.fact.notice} says so here" if new.fact.notice else "only named as deprecated"
        yield _event(history, new, "undeclared", f"no setting any more: {told}")
    elif old.fact.declared and not new.fact.declared:
        handed = "its value is handed on" if new.fact.deprecated else "only read here"
        yield _event(history, new, "undeclared", f"no longer declared; {handed}")
    if new.fact.declared and not old.fact.declared:
        told = f"declared, default {_show(new.fact.default)}"
        yield _event(history, new, "declared", told, new=new.fact.default)


def _flag_changes(history: History, name: str, old: _Stage, new: _Stage) -> Iterator[Event]:
    was, now = old.fact.option_strings, new.fact.option_strings
    if was != now and set(was) != set(now):
        yield from _list_changes(history, new, "spelling", "spellings", was, now)
    elif was != now:
        yield _event(history, new, "spelling", f"spelled {', '.join(now)}")
    choices = old.fact.choices, new.fact.choices
    if choices[0] == choices[1]:
        return
    if all(isinstance(one, list) for one in choices):
        yield from _list_changes(history, new, "choices", "choices", *choices)
    else:
        shown = [
            _listed(one) if isinstance(one, list) else "not listed" if one is None else _show(one)
            for one in choices
        ]
        yield _event(history, new, "choices", f"choices {shown[0]} → {shown[1]}", *choices)


def _list_changes(
    history: History, stage: _Stage, what: str, label: str, old: list[Any], new: list[Any]
) -> Iterator[Event]:
    added, gone = [v for v in new if v not in old], [v for v in old if v not in new]
    parts = [f"+ {_listed(added)}"] * bool(added) + [f"− {_listed(gone)}"] * bool(gone)
    if parts:
        yield _event(history, stage, what, f"{label}: {'; '.join(parts)}", old, new)


def _rename_events(history: History, name: str, told: list[Event]) -> Iterator[Event]:
    for rename in history.renames:
        if name not in (rename.old, rename.new):
            continue
        version = history.versions[rename.at]
        to = rename.old == name
        if to and any(event.what == "deprecated" and event.version == version for event in told):
            continue  # told with the deprecation
        other = (rename.text or rename.new) if to else rename.old
        place = history.rename_places(rename)[1 if to else 0]
        likely = "likely " if rename.likely else ""
        evidence = {
            "deprecated": "the tree names it as the replacement",
            "alias": "the old spelling stayed as an alias",
            "dest": "the same dest",
            "message": "a message of the resolver names it",
            "likely": "similar name, equal type, default and choices",
        }[rename.how]
        yield Event(
            version,
            "renamed-to" if to else "renamed-from",
            f"{likely}{'replaced by' if to else 'replaces'} {other} ({evidence})",
            place,
            history.versions[rename.at - (not to)] if place else None,
            likely=rename.likely,
        )


def _event(
    history: History, stage: _Stage, what: str, text: str, old: Value = None, new: Value = None
) -> Event:
    version = history.versions[stage.at]
    return Event(version, what, text, _place(stage.fact), version, old, new)


def _listed(values: list[Any]) -> str:
    shown = [plain_form(value) for value in values[:_LISTED]]
    return ", ".join(shown) + (f", … {len(values) - _LISTED} more" if len(values) > _LISTED else "")


def _show(value: Value) -> str:
    if isinstance(value, dict) and "unknown" in value:
        return f"unknown ({value['unknown']})"
    if value == SUPPRESS:
        return "left to another flag"
    return "unset" if value is None else plain_form(value)
