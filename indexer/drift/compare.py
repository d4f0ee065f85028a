"""Comparing the facts of two versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexer.drift.change import KINDS, LEVELS, RULES, Change
from indexer.drift.flags import flag_changes
from indexer.drift.others import algorithm_changes, env_changes
from indexer.knowledge.facts import Facts
from indexer.knowledge.renames import FoundRename


def compare(
    old: Facts, new: Facts, renames: Iterable[FoundRename] = (), kinds: Sequence[str] = KINDS
) -> list[Change]:
    """Return what changed, worst first. ``renames`` are those between the two, oldest first."""
    replacements = replacement_table(renames, old, new)
    changes: list[Change] = []
    if "flags" in kinds:
        changes += flag_changes(old, new, replacements)
    if "algorithms" in kinds:
        changes += algorithm_changes(old, new)
    if "env" in kinds:
        changes += env_changes(old, new, replacements)
    order = {code: at for at, code in enumerate(RULES)}
    return sorted(changes, key=lambda one: (LEVELS.index(one.level), order[one.code], one.name))


def replacement_table(renames: Iterable[FoundRename], old: Facts, new: Facts) -> dict[str, str]:
    """Return what to write instead of each spelling that was replaced, following renames of renames.

    Where one spelling gave way to several, all are named.
    """
    present = set(new.option_to_flag()) | {one.name for one in new.env_vars}
    heirs: dict[str, list[FoundRename]] = {}
    for rename in renames:
        heirs.setdefault(rename.old, []).append(rename)
    table = {}
    for name in heirs:
        if final := list(dict.fromkeys(_follow(name, heirs, present, frozenset()))):
            table[name] = " and ".join(final)
    for flag in old.flags:
        if flag.deprecated and flag.deprecated.replacement:
            for option in flag.option_strings:
                table.setdefault(option, flag.deprecated.replacement)
    return table


def _follow(
    name: str, heirs: dict[str, list[FoundRename]], present: set[str], seen: frozenset[str]
) -> Iterable[str]:
    for rename in heirs.get(name, ()):
        if rename.new in seen:
            continue
        if rename.new in present:
            likely = " (likely)" if rename.how == "likely" else ""
            yield (rename.text or rename.new) + likely
        else:
            yield from _follow(rename.new, heirs, present, seen | {name})
