"""From the options of a launch to the record's fields, as far as their values are plain."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from indexer.drift.lint.argv import CONVERTERS, Use
from indexer.drift.lint.facts import OptionFact, VersionTable, value_count
from indexer.drift.lint.whole import PLACEHOLDER

_STORES = ("StoreAction", "StoreTrueAction", "StoreFalseAction", "BooleanOptionalAction")
"""Ends of the actions that set their own dest and nothing else: argparse's, and SGLang's deprecated ones."""


def field_of(flag: OptionFact, fields: Set[str]) -> str:
    """Return the record's field that an option sets: its dest, or in layouts whose parser has dests of
    its own, the field that one of its spellings names."""
    named = getattr(flag, "field", None) or flag.dest
    if named in fields:
        return named
    spelled = (option.lstrip("-").replace("-", "_") for option in flag.option_strings)
    return next((name for name in spelled if name in fields), named)


def default_fields(table: VersionTable, defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the record of a launch without options; ``...`` where one isn't known.

    ``defaults`` are all fields, with the values of those that no option sets.
    """
    state, fields = dict(defaults), defaults.keys()
    for flags in table.by_dest.values():
        for flag in flags:
            if flag.action.endswith(_STORES):
                state[field_of(flag, fields)] = PLACEHOLDER if flag.required else _plain(flag.default)
    return state


def given_fields(uses: Sequence[Use], base: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the record before anything resolves them; ``base``: ``default_fields``."""
    state, fields = dict(base), base.keys()
    for use in uses:
        state[field_of(use.flag, fields)] = _given(use)
    return state


def _plain(value: Any) -> Any:
    return ... if isinstance(value, dict) else value


def _given(use: Use) -> Any:
    flag = use.flag
    if not flag.action.endswith(_STORES):
        return ...
    count = value_count(flag)
    if count == 0:
        return not flag.action.endswith("StoreFalseAction") and not use.option.startswith("--no-")
    name = "str" if flag.type is None else flag.type
    convert = CONVERTERS.get(name) if isinstance(name, str) else None
    if convert is None or any(not word.known for word in use.values):
        return PLACEHOLDER if flag.dest.endswith("model_path") else ...
    try:
        values = [convert(word.text) for word in use.values]
    except (ValueError, RecursionError):
        return ...
    if count is None:
        return values[0] if values else ...
    return values if count != "?" else ...
