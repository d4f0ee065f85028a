"""Which facts of a snapshot speak of which: the joins that pages and ``show`` print."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from indexer.knowledge.schema import Algorithm, Flag, Rule, Snapshot


class Links:
    """Joins over one snapshot, each computed when first asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @cached_property
    def _flags_by_key(self) -> dict[str, list[Flag]]:
        keyed: dict[str, list[Flag]] = defaultdict(list)
        for flag in self.snapshot.flags:
            for key in dict.fromkeys([flag.name, flag.dest, flag.field or flag.dest, *flag.option_strings]):
                keyed[_key(key)].append(flag)
        return keyed

    def flags(self, name: str) -> list[Flag]:
        """Return the flags that ``name`` (an option string, a flag's name, a field) means."""
        return self._flags_by_key.get(_key(name), [])

    @cached_property
    def _rules_by_key(self) -> dict[str, list[Rule]]:
        keyed: dict[str, list[Rule]] = defaultdict(list)
        for rule in self.snapshot.rules:
            for key in dict.fromkeys(map(_key, [*rule.targets, *rule.flags])):
                keyed[key].append(rule)
        return keyed

    def rules_of(self, flag: Flag) -> list[Rule]:
        """Return the rules that write or test the flag, in source order of the resolver."""
        keys = dict.fromkeys(map(_key, [flag.name, flag.dest, flag.field or flag.dest]))
        found = {rule.id: rule for key in keys for rule in self._rules_by_key.get(key, [])}
        return sorted(found.values(), key=lambda rule: (rule.order is None, rule.order or 0, rule.id))

    def algorithms_of(self, flag: Flag) -> list[Algorithm]:
        """Return the algorithms that read the flag."""
        keys = {_key(name) for name in (flag.name, flag.dest, flag.field or flag.dest)}
        return [a for a in self.snapshot.algorithms if keys & set(map(_key, a.flags))]

    @cached_property
    def rules_by_id(self) -> dict[str, Rule]:
        """The rules by id."""
        return {rule.id: rule for rule in self.snapshot.rules}


def _key(name: str) -> str:
    return name.lstrip("-").replace("-", "_")
