"""Argparse accepts a unique prefix of a long option; so SGLang's users write ``--tp``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexer.drift.change import Change, change
from indexer.knowledge.facts import Facts, FlagFact

_ALWAYS = ("--help",)
"""Argparse's own options take part in prefix matching."""


class PrefixTable:
    """What each prefix of a version's options stands for."""

    def __init__(self, facts: Facts) -> None:
        self.flags: dict[str, FlagFact | None] = dict.fromkeys(_ALWAYS)
        self.flags.update(facts.option_to_flag())
        self._matches: dict[str, list[str]] = {}
        for option in sorted(self.flags):
            for end in range(3, len(option) + 1):
                self._matches.setdefault(option[:end], []).append(option)

    def resolve(self, spelled: str) -> list[str]:
        """Return the options that ``spelled`` may mean: itself if declared, else all it begins.

        One is accepted; none is “unrecognized arguments”, more is “ambiguous option”.
        """
        if spelled in self.flags:
            return [spelled]
        return self._matches.get(spelled, [])

    def prefixes(self) -> Iterable[str]:
        """Return every prefix that stands for something, whole options too."""
        return self._matches


class _Group(NamedTuple):
    """Abbreviations of one option with one fate."""

    code: str
    target: str
    now: tuple[str, ...]


def abbreviation_changes(old: PrefixTable, new: PrefixTable) -> Iterator[Change]:
    """Yield what happened to abbreviations that worked in the old version, grouped by their option.

    An abbreviation of an option that is gone is not told again.
    """
    groups: dict[_Group, list[str]] = {}
    for prefix in old.prefixes():
        meant = old.resolve(prefix)
        if len(meant) != 1 or meant[0] == prefix or meant[0] in _ALWAYS:
            continue
        now = new.resolve(prefix)
        if (len(now) > 1 and meant[0] in now) or (len(now) > 1 and meant[0] not in new.flags):
            code = "abbreviation-ambiguous"
        elif len(now) == 1 and not _same_destination(old.flags[meant[0]], new.flags[now[0]]):
            code = "abbreviation-retargeted"
        else:
            continue
        groups.setdefault(_Group(code, meant[0], tuple(now)), []).append(prefix)
    for group, spelled in sorted(groups.items()):
        yield _change(group, sorted(spelled, key=len), old, new)


def _same_destination(old: FlagFact | None, new: FlagFact | None) -> bool:
    if old is None or new is None:
        return old is new
    return old.dest == new.dest or bool(set(old.option_strings) & set(new.option_strings))


def _change(group: _Group, spelled: list[str], old: PrefixTable, new: PrefixTable) -> Change:
    shown = spelled[-1] if len(spelled) == 1 else f"{spelled[0]} … {spelled[-1]}"
    was = old.flags[group.target]
    if group.code == "abbreviation-ambiguous":
        message = f"{shown} meant {group.target}, now ambiguous: could match {', '.join(group.now)}"
        replacement = group.target if group.target in new.flags else None
    else:
        message = f"{shown} meant {group.target}, now means {group.now[0]}"
        replacement = group.target if group.target in new.flags else None
    now = new.flags[group.now[0]]
    return change(
        group.code,
        "flags",
        group.target,
        message,
        old=spelled,
        new=list(group.now),
        replacement=replacement,
        old_at=was.declared_at if was else None,
        new_at=now.declared_at if now else None,
    )
