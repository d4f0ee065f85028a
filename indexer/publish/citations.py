"""Re-opening every citation of a snapshot: the cited lines must contain what they are cited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from indexer.knowledge.addresses import every_fact, fact_id
from indexer.knowledge.schema import (
    Algorithm,
    Choice,
    CodePath,
    EnvVar,
    Flag,
    Location,
    Model,
    Rule,
    Snapshot,
    Value,
)
from indexer.knowledge.values import as_location, as_unknown
from indexer.publish.excerpts import SourceText

_FUNCTION, _BELOW = 250, 4


class Dead(msgspec.Struct, frozen=True):
    """A citation that does not hold: whose, where, and what its lines should have contained."""

    fact: str
    what: str
    at: Location
    reason: str

    def __str__(self) -> str:
        return f"{self.at.path}:{self.at.line}: {self.fact} {self.what}: {self.reason}"


class _Claim(msgspec.Struct):
    """Any of ``symbols`` must be on the cited lines; with none, the lines must only be there.

    ``reach`` is how many lines above (and a few below) may hold the symbol instead.
    """

    what: str
    at: Location | None
    symbols: list[str] = []
    reach: int = 0


def dead_citations(snapshot: Snapshot, source: SourceText) -> list[Dead]:
    """Return the citations of a snapshot that do not hold in its own source, in order."""
    dead: list[Dead] = []
    for kind, fact in every_fact(snapshot):
        name = fact_id(kind, fact)
        for claim in _CLAIMS[kind](fact):
            if claim.at is None:
                continue
            reason = _fault(claim, claim.at, source)
            if reason:
                dead.append(Dead(name, claim.what, claim.at, reason))
    return dead


def count_citations(snapshot: Snapshot) -> int:
    """Return how many citations ``dead_citations`` re-opens."""
    return sum(1 for kind, fact in every_fact(snapshot) for claim in _CLAIMS[kind](fact) if claim.at)


def _fault(claim: _Claim, at: Location, source: SourceText) -> str | None:
    lines = source.lines(at.path)
    if not lines:
        return "no such file in the tree"
    if not 0 < at.line <= len(lines) or (at.end_line or at.line) > len(lines):
        return f"the file has {len(lines)} lines"
    text = source.cited(at)
    if not text.strip():
        return "the cited line is empty"
    wanted = [symbol for symbol in claim.symbols if symbol]
    if claim.reach:
        text = "\n".join(lines[max(0, at.line - 1 - claim.reach) : (at.end_line or at.line) + _BELOW])
    if wanted and not any(_has(text, symbol) for symbol in wanted):
        return f"none of {', '.join(map(repr, wanted))} there"
    return None


def _has(text: str, symbol: str) -> bool:
    """Return whether ``symbol`` stands in ``text``, an identifier as a whole word.

    Searched as a string: a pattern per name would cost more than all the reading.
    """
    if not symbol.isidentifier():
        return symbol in text
    start = text.find(symbol)
    while start >= 0:
        end = start + len(symbol)
        if not (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
            return True
        start = text.find(symbol, start + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _flag(flag: Flag) -> Iterator[_Claim]:
    names = [*flag.option_strings, flag.dest, flag.field or ""]
    yield _Claim("declaration", flag.declared_at, names)
    yield _Claim("registration", flag.registered_at, [*names, "add_argument"])
    if flag.deprecated:
        yield _Claim("deprecation", flag.deprecated.at)
    for choice in flag.choices_at:
        yield _Claim("choice", choice.at, _spellings(choice))
    for read in flag.read_at:
        indirect = (read.how or "").startswith("through ") or (read.how or "").endswith(" by name")
        named = [flag.dest, flag.field or "", *flag.option_strings]
        # Through a local variable: the name then stands where that was set, above in the function.
        yield _Claim("read", read.at, [] if indirect else named, _FUNCTION)
    for value in (flag.default, flag.const, flag.choices, flag.help):
        yield from _unknown(value)


def _spellings(choice: Choice) -> list[str]:
    """A choice may be written as its text, or computed: then its line only has to be there."""
    at, value = choice.at, choice.value
    computed = choice.condition is not None or not isinstance(value, str) or not value
    return [] if computed or at is None or at.symbol is not None else [str(value)]


def _algorithm(algorithm: Algorithm) -> Iterator[_Claim]:
    yield _Claim("declaration", algorithm.declared_at, [algorithm.name])
    for alias in algorithm.aliases:
        yield _Claim("alias", alias.at, [])
    for worker in algorithm.workers:
        yield _Claim("worker", worker.class_at, [worker.class_name])
        yield _Claim("worker selection", worker.selected_at)
    for name, at in algorithm.predicates_at.items():
        yield _Claim(f"predicate {name}", at)
    for at in (*algorithm.draft_model_at, *algorithm.automatic):
        yield _Claim("place", at)


def _model(model: Model) -> Iterator[_Claim]:
    yield _Claim("declaration", model.declared_at, [model.architecture])
    yield _Claim("entry class", model.entry_class_at, ["EntryClass", model.architecture])
    for part in (model.hybrid, model.draft, model.radix, *model.backends, *model.overrides):
        yield from _places(part or {})


def _rule(rule: Rule) -> Iterator[_Claim]:
    yield _Claim("place", rule.at)
    for condition in rule.guard:
        yield _Claim("guard", condition.at)


def _path(path: CodePath) -> Iterator[_Claim]:
    for step in path.steps:
        yield _Claim(f"step {step.function}", step.at)
        yield _Claim(f"call of {step.function}", step.call_at)
        for at in step.anchors:
            yield _Claim(f"anchor in {step.function}", at)


def _env(variable: EnvVar) -> Iterator[_Claim]:
    yield _Claim("declaration", variable.declared_at, [variable.name, variable.name.removeprefix("SGLANG_")])
    for read in (*variable.read_at, *variable.set_at):
        yield _Claim("read", read.at)


def _unknown(value: Value) -> Iterator[_Claim]:
    unknown = as_unknown(value)
    if unknown and unknown.at:
        yield _Claim("unknown value", unknown.at)


def _places(facts: dict[str, Value]) -> Iterable[_Claim]:
    for key, value in facts.items():
        at = as_location(value)
        if at:
            yield _Claim(key, at)


_CLAIMS: dict[str, Any] = {
    "flag": _flag,
    "algorithm": _algorithm,
    "model": _model,
    "rule": _rule,
    "path": _path,
    "env": _env,
}
