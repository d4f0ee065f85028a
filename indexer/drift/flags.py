"""What changed for flags, judged by who is hurt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.drift.change import Change, change
from indexer.drift.prefixes import PrefixTable, abbreviation_changes
from indexer.knowledge.facts import Facts, FlagFact
from indexer.knowledge.values import plain_form

KIND = "flags"
_ONE_VALUE = (1, 1)
_MANY = 1 << 30
_LISTED = 8
"""A message names this many choices; the change holds them all."""


def flag_changes(old: Facts, new: Facts, replacements: Mapping[str, str]) -> Iterator[Change]:
    """Yield the changes of flags. ``replacements`` maps an option string to what to write instead."""
    before, after = PrefixTable(old), PrefixTable(new)
    was, now = old.option_to_flag(), new.option_to_flag()
    compared = set()
    for option, flag in was.items():
        if option not in now:
            yield _gone(option, flag, before, after, replacements)
            continue
        pair = (flag.name, now[option].name)
        if pair not in compared:
            compared.add(pair)
            yield from _compare(option, flag, now[option])
    for flag in new.flags:
        yield from _added(flag, was)
    yield from abbreviation_changes(before, after)


def _gone(
    option: str, flag: FlagFact, before: PrefixTable, after: PrefixTable, replacements: Mapping[str, str]
) -> Change:
    matches = after.resolve(option)
    replacement = replacements.get(option)
    if replacement is None:
        replacement = next((other for other in flag.option_strings if other in after.flags), None)
    if not matches:
        message = f"{option} is gone" + (f", use {replacement}" if replacement else "")
        return change("flag-removed", KIND, option, message, replacement=replacement, old_at=flag.declared_at)
    heir = after.flags[matches[0]]
    details: dict[str, Any] = {
        "new": matches,
        "old_at": flag.declared_at,
        "new_at": heir.declared_at if heir else None,
    }
    if len(matches) > 1:
        message = f"{option} is no longer declared and ambiguous: could match {', '.join(matches)}"
        return change("flag-ambiguous", KIND, option, message, replacement=replacement, **details)
    same = heir is not None and heir.dest == flag.dest
    message = f"{option} is no longer declared; argparse takes it as {matches[0]}" + (
        "" if same else ", which is another setting"
    )
    return change(
        "flag-now-abbreviation", KIND, option, message, replacement=replacement or matches[0], **details
    )


def _added(flag: FlagFact, was: Mapping[str, FlagFact]) -> Iterator[Change]:
    fresh = [option for option in flag.option_strings if option not in was]
    if len(fresh) == len(flag.option_strings):
        what = f"{', '.join(flag.option_strings)} is new"
        if flag.required:
            message = f"{flag.option_strings[0]} is new and required"
            yield change("flag-required", KIND, flag.option_strings[0], message, new_at=flag.declared_at)
        if flag.deprecated:
            what += ", deprecated from the start"
        yield change(
            "flag-added", KIND, flag.option_strings[0], what, new=flag.default, new_at=flag.declared_at
        )
        return
    for option in fresh:
        message = f"{option} is a new spelling of {flag.option_strings[0]}"
        yield change("flag-alias-added", KIND, option, message, new_at=flag.declared_at)


def _compare(option: str, old: FlagFact, new: FlagFact) -> Iterator[Change]:
    """Compare a flag with itself."""

    def found(code: str, message: str, was: Any = None, now: Any = None, **more: Any) -> Change:
        places = {"old_at": old.declared_at, "new_at": new.declared_at}
        return change(code, KIND, option, f"{option}: {message}", old=was, new=now, **places, **more)

    if new.required and not old.required:
        yield found("flag-required", "became required", False, True)
    if (new.deprecated is not None) and old.deprecated != new.deprecated:
        use = new.deprecated.replacement
        code = "flag-refused" if new.deprecated.raises else "flag-deprecated"
        message = "deprecated" + (", using it stops the start" if new.deprecated.raises else "")
        yield found(code, message + (f", use {use}" if use else ""), replacement=use)
    yield from _compare_values(found, old, new)
    for attribute, code in (
        ("default", "flag-default"),
        ("fallback", "flag-fallback"),
        ("const", "flag-const"),
    ):
        was, now = getattr(old, attribute), getattr(new, attribute)
        if was == now or (attribute == "const" and old.action != new.action):
            continue
        if _is_unknown(was) or _is_unknown(now):
            yield found("flag-not-comparable", f"{attribute} {_show(was)} → {_show(now)}", was, now)
        else:
            label = "value when unset" if attribute == "fallback" else attribute
            yield found(code, f"{label} {_show(was)} → {_show(now)}", was, now)
    if old.dest != new.dest:
        yield found("flag-dest", f"dest {old.dest} → {new.dest}", old.dest, new.dest)
    yield from _compare_choices(found, old, new)
    if old.help != new.help:
        yield found("flag-help", "help text changed", old.help, new.help)
    if old.declared_at != new.declared_at:
        yield found("flag-moved", "declaration moved")


def _compare_values(found: Any, old: FlagFact, new: FlagFact) -> Iterator[Change]:
    """Number, type and use of the values."""
    (least, most), (now_least, now_most) = arity(old), arity(new)
    if now_least > least or now_most < most:
        was, now = _values(old), _values(new)
        yield found("flag-values", f"took {was}, takes {now}", was, now)
    elif old.nargs != new.nargs and (old.nargs is None or new.nargs is None) and most > 0 < now_most:
        yield found("flag-type", f"a {_container(old)} → a {_container(new)}", old.nargs, new.nargs)
    if old.type != new.type and most > 0 < now_most:
        yield found("flag-type", f"type {_show(old.type)} → {_show(new.type)}", old.type, new.type)
    elif old.action != new.action and not new.deprecated and most > 0 < now_most:
        yield found("flag-action", f"action {old.action} → {new.action}", old.action, new.action)


def arity(flag: FlagFact) -> tuple[int, int]:
    """Return how few and how many values argparse takes for a flag."""
    nargs = flag.nargs
    if isinstance(nargs, int):
        return (nargs, nargs)
    by_sign = {"?": (0, 1), "*": (0, _MANY), "+": (1, _MANY)}
    return by_sign.get(nargs, _ONE_VALUE) if isinstance(nargs, str) else _ONE_VALUE


def _values(flag: FlagFact) -> str:
    least, most = arity(flag)
    if most == _MANY:
        return f"{least} or more values"
    if least != most:
        return "an optional value"
    return {0: "no value", 1: "one value"}.get(most, f"{most} values")


def _container(flag: FlagFact) -> str:
    return "single value" if flag.nargs is None else "list"


def _compare_choices(found: Any, old: FlagFact, new: FlagFact) -> Iterator[Change]:
    was, now = old.choices, new.choices
    if was == now:
        return
    if _is_unknown(was) or _is_unknown(now):
        yield found("flag-not-comparable", f"choices {_show(was)} → {_show(now)}", was, now)
        return
    if now is None:
        yield found("choices-opened", "choices are no longer listed: any value passes argparse", was, now)
        return
    accepted = _listed(now)
    if was is None:
        yield found("choice-removed", f"now takes only {accepted}", was, now)
        return
    if gone := [choice for choice in was if choice not in now]:
        message = f"no longer takes {_listed(gone)} (takes {accepted})"
        yield found("choice-removed", message, gone, now)
    if fresh := [choice for choice in now if choice not in was]:
        yield found("choice-added", f"also takes {_listed(fresh)}", None, fresh)


def _listed(choices: list[Any]) -> str:
    shown = [plain_form(choice) for choice in choices[:_LISTED]]
    more = [f"… {len(choices) - _LISTED} more"] if len(choices) > _LISTED else []
    return ", ".join(shown + more)


def _is_unknown(value: Any) -> bool:
    return isinstance(value, dict) and "unknown" in value


def _show(value: Any) -> str:
    if _is_unknown(value):
        return f"unknown ({value['unknown']})"
    return "unset" if value is None else plain_form(value)
