"""Comparing the facts of two versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from indexer.drift.change import LEVELS, RULES, USUAL_KINDS, Change
from indexer.drift.flags import flag_changes
from indexer.drift.others import algorithm_changes, env_changes
from indexer.drift.variables import heirs
from indexer.knowledge.facts import Facts
from indexer.knowledge.renames import FoundRename, named_options


def compare(
    old: Facts, new: Facts, renames: Iterable[FoundRename] = (), kinds: Sequence[str] = USUAL_KINDS
) -> list[Change]:
    """Return what changed, worst first. ``renames`` are those between the two, oldest first."""
    renames = list(renames)
    replacements = replacement_table(renames, old, new)
    changes: list[Change] = []
    if "flags" in kinds:
        changes += flag_changes(old, new, replacements)
    if "algorithms" in kinds:
        changes += algorithm_changes(old, new)
    if "env" in kinds:
        changes += env_changes(old, new, heirs(replacements, renames, old, new))
    return in_order(changes)


def in_order(changes: Iterable[Change]) -> list[Change]:
    """Return changes worst first, of one level as ``RULES`` lists their kinds."""
    order = {code: at for at, code in enumerate(RULES)}
    return sorted(changes, key=lambda one: (LEVELS.index(one.level), order[one.code], one.name))


def replacement_table(renames: Iterable[FoundRename], old: Facts, new: Facts) -> dict[str, str]:
    """Return what to write instead of each spelling that was replaced, following renames of renames.

    Where one spelling gave way to several, all are named.
    """
    usable = _usable_in(new)
    heirs: dict[str, list[FoundRename]] = {}
    for rename in renames:
        heirs.setdefault(rename.old, []).append(rename)
    table = {}
    for name in heirs:
        if final := list(dict.fromkeys(_follow(name, heirs, usable, frozenset()))):
            table[name] = " and ".join(final)
    for variable in old.env_vars:
        use = variable.deprecated.replacement if variable.deprecated else None
        if use and usable(use):
            table.setdefault(variable.name, use)
    for flag in old.flags:
        if flag.deprecated and flag.deprecated.replacement and usable(flag.deprecated.replacement):
            for option in flag.option_strings:
                table.setdefault(option, flag.deprecated.replacement)
    return table


def _usable_in(new: Facts) -> Callable[[str], bool]:
    """Return a test whether the version accepts what a replacement text says to write."""
    options = new.option_to_flag()
    variables = {one.name for one in new.env_vars if one.is_setting}

    def usable(text: str) -> bool:
        if text in variables:
            return True
        named = named_options(text)
        if not named or any(option not in options for option in named):
            return False
        _, written, value = text.partition("=")
        lists = (options[option].choices for option in named)
        return not written or all(value in choices for choices in lists if isinstance(choices, list))

    return usable


def _follow(
    name: str, heirs: dict[str, list[FoundRename]], usable: Callable[[str], bool], seen: frozenset[str]
) -> Iterable[str]:
    for rename in heirs.get(name, ()):
        if rename.new in seen:
            continue
        if usable(rename.text or rename.new):
            likely = " (likely)" if rename.how == "likely" else ""
            yield (rename.text or rename.new) + likely
        else:
            yield from _follow(rename.new, heirs, usable, seen | {name})
