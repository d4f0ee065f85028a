"""Which facts of a snapshot speak of which: the joins that pages and ``show`` print."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

import msgspec

from indexer.knowledge.schema import Algorithm, Flag, Model, Rule, Snapshot

OVERRIDE = "override"
_WORD = re.compile(r"[A-Za-z_]\w*")


class RulesOfFlag(msgspec.Struct):
    """The rules that touch a flag, by what they have to do with it.

    ``changes`` write it, ``checks`` refuse or tell something about it, ``decides`` write other fields
    depending on it, ``distant`` read it only through helper functions or their callers.
    """

    changes: list[Rule] = []
    checks: list[Rule] = []
    decides: list[Rule] = []
    distant: list[Rule] = []

    @property
    def near(self) -> list[Rule]:
        """All but the distant ones."""
        return [*self.changes, *self.checks, *self.decides]


class Links:
    """Joins over one snapshot, each computed when first asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._words: dict[str, set[str]] = {}

    @cached_property
    def _flags_by_key(self) -> dict[str, list[Flag]]:
        keyed: dict[str, list[Flag]] = defaultdict(list)
        for flag in self.snapshot.flags:
            for key in dict.fromkeys([*_keys(flag), *map(_key, flag.option_strings)]):
                keyed[key].append(flag)
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

    @cached_property
    def told_by_others(self) -> set[str]:
        """Ids of the notices that stand beside an override, which shows their message as its own."""
        return {rule.companion for rule in self.snapshot.rules if rule.companion}

    def rules_of(self, flag: Flag) -> RulesOfFlag:
        """Return the rules that write or test the flag, in the order of the resolver."""
        keys = set(_keys(flag))
        found = {rule.id: rule for key in _keys(flag) for rule in self._rules_by_key.get(key, [])}
        ordered = sorted(found.values(), key=lambda rule: (rule.order is None, rule.order or 0, rule.id))
        rules = RulesOfFlag()
        for rule in ordered:
            if rule.id in self.told_by_others:
                continue
            about = bool(keys & set(map(_key, rule.targets)))
            if about and rule.kind == OVERRIDE:
                rules.changes.append(rule)
            elif about:
                rules.checks.append(rule)
            elif keys & self._names_in_guard(rule):
                (rules.decides if rule.kind == OVERRIDE else rules.checks).append(rule)
            else:
                rules.distant.append(rule)
        return rules

    def _names_in_guard(self, rule: Rule) -> set[str]:
        """Return the words of a rule's own tests, its values and message (not of its helpers)."""
        if rule.id not in self._words:
            texts = [condition.text for condition in rule.guard if not condition.how.startswith("caller")]
            self._words[rule.id] = set(_WORD.findall(" ".join([*texts, *rule.values, rule.message or ""])))
        return self._words[rule.id]

    def algorithms_of(self, flag: Flag) -> list[Algorithm]:
        """Return the algorithms that read the flag."""
        keys = set(_keys(flag))
        return [a for a in self.snapshot.algorithms if keys & set(map(_key, a.flags))]

    @cached_property
    def _models_by_rule(self) -> dict[str, list[Model]]:
        found: dict[str, list[Model]] = defaultdict(list)
        for model in self.snapshot.models:
            for entry in (*model.overrides, *model.backends):
                if entry.get("rule") is not None and model not in found[str(entry["rule"])]:
                    found[str(entry["rule"])].append(model)
        return found

    def models_of(self, flag: Flag) -> list[Model]:
        """Return the models for which a rule of their own writes or tests the flag, by name."""
        found = {
            model.architecture: model
            for rule in self.rules_of(flag).near
            for model in self._models_by_rule.get(rule.id, [])
        }
        return [found[name] for name in sorted(found, key=str.lower)]

    @cached_property
    def rules_by_id(self) -> dict[str, Rule]:
        """The rules by id."""
        return {rule.id: rule for rule in self.snapshot.rules}


def _keys(flag: Flag) -> list[str]:
    return list(dict.fromkeys(map(_key, [flag.name, flag.dest, flag.field or flag.dest])))


def _key(name: str) -> str:
    return name.lstrip("-").replace("-", "_")
