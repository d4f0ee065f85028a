"""A release's rules as the steps of a rehearsal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

import msgspec

from indexer.extract.rules.stages import CHECKS, RESOLVER
from indexer.knowledge.refusals.expressions import UNTOLD, Predicates, Writer, may_raise
from indexer.knowledge.rehearsal import FOLLOWED, Step
from indexer.knowledge.schema import Algorithm, Location, Rule

_Asked = tuple[str, Location]
"""A condition, and where it is asked for."""
_PLAIN_WRITES = frozenset(
    {"assignment", "declaration", "tuple assignment", "returned dict", "returned value"}
)
"""Shapes of overrides whose value is the one that the field gets, and at once."""
_SWITCHED = frozenset({"True", "False"})
_ALGORITHM_GIVEN = re.compile(r"\w+ is not None")
_NUMBERS = ("speculative_num_", "speculative_eagle_topk")
"""Beginnings of the fields whose every change is told, warned of or not."""


def steps_of(
    rules: Iterable[Rule], fields: Iterable[str], algorithms: Sequence[Algorithm] = ()
) -> list[Step]:
    """Return the steps that the resolver takes, in order: refusals, and the writes they depend on."""
    rules = list(rules)
    maker = _Maker(rules, frozenset(fields), predicates_of(algorithms))
    made = (maker.step(rule) for rule in rules if rule.stage in (RESOLVER, CHECKS))
    return _needed([step for step in made if step is not None])


def predicates_of(algorithms: Sequence[Algorithm]) -> Predicates:
    """Return the predicates of the algorithms' enum with the spellings for which they hold."""
    found: dict[str, list[str]] = {}
    told = [one for one in algorithms if one.predicates]
    for predicate in sorted({name for one in told for name in one.predicates}):
        if all(isinstance(one.predicates.get(predicate), bool) for one in told):
            holding = [one for one in told if one.predicates[predicate]]
            found[predicate] = sorted({name for one in holding for name in spellings(one, always=True)})
    return found


def spellings(algorithm: Algorithm, always: bool = False) -> list[str]:
    """Return an algorithm's name and what may mean it, or ``always`` means it."""
    return [algorithm.name, *(one.name for one in algorithm.aliases if one.condition is None or not always)]


class _Maker:
    def __init__(self, rules: Sequence[Rule], fields: frozenset[str], predicates: Predicates) -> None:
        self.fields = fields
        self.predicates = predicates
        self.warnings = {rule.id for rule in rules if rule.kind == "warning"}
        self.returned = {
            (_leaf(rule.function), target)
            for rule in rules
            if rule.shape == "returned value"
            for target in rule.targets
        }

    def step(self, rule: Rule) -> Step | None:
        """Return a rule's step, None for one that can never be certain and writes nothing."""
        named = frozenset({*rule.flags, *rule.targets}) & self.fields
        writer = Writer(named, {**rule.where, **rule.bindings}, self.predicates, self.fields)
        guard = list(self._guard(rule, writer))
        if rule.kind == "override":
            return self._write(rule, guard, writer)
        if rule.kind == "assert":
            text = writer.written(rule.values[0]) if rule.values else UNTOLD
            guard.append((UNTOLD if text == UNTOLD else f"not ({text})", rule.at))
        elif rule.kind != "error":
            return None
        texts, raising = _folded(guard)
        if UNTOLD in texts or not guard:
            return None  # never certain, or reached in a way that no guard tells
        exception = rule.exception or ""
        return Step(texts, exception=exception, path=rule.at.path, line=rule.at.line, raising=raising)

    def _guard(self, rule: Rule, writer: Writer) -> Iterable[_Asked]:
        chosen = any(
            one.holds and any(f".{name}()" in one.text for name in self.predicates) for one in rule.guard
        )
        for condition in rule.guard:
            how = condition.how.rpartition(" ")[2]
            if how in ("raise", "assert"):
                continue  # an earlier way out, and not by a return: the launch is refused all the same
            if chosen and _ALGORITHM_GIVEN.fullmatch(condition.text):
                continue  # an algorithm for which a predicate holds is there
            # A function that returns at once for any but one model is that model's own affair.
            text = UNTOLD if how in ("except", "loop") else writer.written(condition.text, how == "return")
            negated = text != UNTOLD and not condition.holds
            yield f"not ({text})" if negated else text, condition.at or rule.at

    def _write(self, rule: Rule, guard: list[_Asked], writer: Writer) -> Step | None:
        if rule.shape != "returned value" and self._is_returned(rule):
            return None  # the helper's own returns say what is written
        each = len(rule.values) == len(rule.targets)
        plain = each and rule.shape in _PLAIN_WRITES
        # What stands in a dict of decisions is written later, if at all.
        later = each and (rule.shape or "").startswith("dict ") and {*rule.values} <= _SWITCHED
        if later:
            guard.append((UNTOLD, rule.at))
        writes = []
        for at, target in enumerate(rule.targets):
            root = target.partition(".")[0]
            if root in self.fields:
                writes.append(
                    (root, writer.written(rule.values[at]) if (plain or later) and root == target else UNTOLD)
                )
        if not writes:
            return None
        texts, raising = _folded(guard)
        certain = UNTOLD not in texts
        if not certain:
            # A switch that is set already, or may be, is worth keeping apart: the value may be the same.
            writes = [
                (name, value if name in FOLLOWED or value in _SWITCHED else UNTOLD) for name, value in writes
            ]
        known = certain and any(value != UNTOLD for _, value in writes)
        told = known and (
            rule.companion in self.warnings or any(name.startswith(_NUMBERS) for name, _ in writes)
        )
        where = (rule.at.path, rule.at.line) if told else ("", 0)
        return Step(texts, tuple(writes), "", told, *where, raising)

    def _is_returned(self, rule: Rule) -> bool:
        """Whether every value is the call of a helper whose returns are rules of their own."""
        called = [_leaf(value.partition("(")[0]) for value in rule.values if value.endswith(")")]
        pairs = list(zip(called, rule.targets, strict=False))
        return len(pairs) == len(rule.targets) > 0 and all(pair in self.returned for pair in pairs)


def _leaf(function: str) -> str:
    return function.rpartition(".")[2]


def _folded(guard: list[_Asked]) -> tuple[tuple[str, ...], tuple[tuple[int, str, int], ...]]:
    """Say each condition once, and where those that may raise are asked for first; of those that can't be
    told one mark is enough, at the end. With such a mark nothing raises for certain."""
    told: dict[str, Location] = {}
    for text, at in guard:
        told.setdefault(text, at)
    if UNTOLD in told:
        del told[UNTOLD]
        return (*told, UNTOLD), ()
    raising = ((i, at.path, at.line) for i, (text, at) in enumerate(told.items()) if may_raise(text))
    return tuple(told), tuple(raising)


def _needed(steps: list[Step]) -> list[Step]:
    """Leave out the writes of fields that nothing told depends on."""
    asked = {name for step in steps if step.exception or step.told for name in _names(step)}
    while True:
        more = {
            name
            for step in steps
            if any(target in asked for target, _ in step.writes)
            for name in _names(step)
        }
        if more <= asked:
            break
        asked |= more
    kept = []
    for step in steps:
        writes = tuple(pair for pair in step.writes if pair[0] in asked)
        if step.exception or writes:
            kept.append(msgspec.structs.replace(step, writes=writes))
    return kept


def _names(step: Step) -> set[str]:
    texts = [*step.guard, *(value for _, value in step.writes)]
    names = {
        node.id
        for text in texts
        for node in ast.walk(ast.parse(text, mode="eval"))
        if isinstance(node, ast.Name)
    }
    return names | {target for target, _ in step.writes if step.told}
