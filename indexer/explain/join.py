"""From the paths that were run to one answer: the same on all of them is *will*, else *may*."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from indexer.explain.explanation import (
    MAY,
    REFUSED,
    STARTS,
    UNKNOWN,
    WILL,
    Cause,
    Explanation,
    FieldChange,
    Logged,
    Refusal,
    UnknownFact,
)
from indexer.explain.resolve import PathResult
from indexer.interpret.explore import Exploration
from indexer.knowledge.schema import Location

_RUNNING_ONLY = (
    "whether the weights load and fit, and what is measured after start "
    "(free memory, CUDA graph capture, kernels)"
)


def join(version: str, exploration: Exploration[PathResult], assumed: list[str]) -> Explanation:
    """Return the answer that all explored paths support."""
    results = [path.result for path in exploration.paths]
    answer = Explanation(version, UNKNOWN, assumed=list(assumed), paths=len(results))
    _outcome(answer, results, exploration.complete)
    if answer.outcome != REFUSED:
        # A path that was refused or stopped may have been the real one: then nothing is certain.
        certain = exploration.complete and all(one.ok is True and not one.notes for one in results)
        _fields(answer, [one for one in results if one.resolved], certain)
        if certain:
            answer.speculative = _speculative(results)
    _events(answer, results, exploration.complete)
    _unknowns(answer, exploration)
    return answer


def _outcome(answer: Explanation, results: list[PathResult], complete: bool) -> None:
    refusals = _refusals(results)
    outcomes = {one.ok for one in results}
    if any(one.notes for one in results):
        # A registration that failed may be missed later: what follows is not SGLang's own doing.
        answer.refusals = refusals
        for one in refusals:
            one.certainty = MAY
    elif outcomes == {True} and complete:
        answer.outcome = STARTS
    elif outcomes == {False} and complete:
        answer.outcome = REFUSED
        answer.refusal = refusals[0]
        if len(refusals) > 1:  # refused on every path, but not by one rule
            answer.refusals = refusals
            for one in refusals:
                one.certainty = MAY
    elif refusals:
        answer.refusals = refusals
        for one in refusals:
            one.certainty = MAY


def _refusals(results: list[PathResult]) -> list[Refusal]:
    found: dict[tuple[Any, ...], Refusal] = {}
    for one in results:
        if one.ok is False:
            at = Location(one.at[0], one.at[1], symbol=one.at[2]) if one.at else None
            key = (one.exception, one.at)
            found.setdefault(key, Refusal(one.exception, one.message, at, one.stage))
    return list(found.values())


def _fields(answer: Explanation, results: list[PathResult], certain: bool) -> None:
    if not results:
        return
    names = dict.fromkeys(name for one in results for name in one.resolved if name in one.asked)
    for name in names:
        asked = results[0].asked.get(name)
        unknown = next((one.unknown[name] for one in results if name in one.unknown), None)
        values = [one.resolved.get(name) for one in results]
        distinct = _distinct(values)
        if unknown is None and len(distinct) == 1 and _same(distinct[0], asked):
            continue
        definite = unknown is None and len(distinct) == 1 and certain
        answer.fields[name] = FieldChange(
            asked,
            distinct[0],
            WILL if definite else MAY,
            _causes(results, name),
            [] if len(distinct) == 1 else distinct,
        )
        if unknown is not None:
            answer.unknowns.append(UnknownFact(f"field {name}", f"depends on {', '.join(unknown)}"))


def _speculative(results: list[PathResult]) -> dict[str, Any]:
    """Return the settings of speculative decoding on which all paths agree."""
    found = {}
    for name in results[0].resolved:
        values = [one.resolved.get(name) for one in results]
        known = not any(name in one.unknown for one in results)
        if name.startswith("speculative_") and known and len(_distinct(values)) == 1:
            found[name] = values[0]
    return found


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same also in kind: ``True`` and ``1`` are not."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def _distinct(values: list[Any]) -> list[Any]:
    found: dict[bytes, Any] = {}
    for value in values:
        found.setdefault(msgspec.json.encode(value, order="sorted"), value)
    return list(found.values())


def _causes(results: list[PathResult], name: str) -> list[Cause]:
    causes: dict[Cause, None] = {}
    for one in results:
        writes = [write for write in one.writes if write.name == name]
        for write in writes[-2:] if len(writes) > 1 else writes:
            if write.decides:
                causes[Cause(Location(write.path, write.line, symbol=write.function))] = None
    return list(causes)


def _events(answer: Explanation, results: list[PathResult], complete: bool) -> None:
    counts = Counter(event for one in results for event in {*one.events})
    order = dict.fromkeys(event for one in results for event in one.events if event.level != "debug")
    for event in order:
        certainty = WILL if complete and counts[event] == len(results) else MAY
        at = Location(event.path, event.line) if event.path else None
        answer.events.append(Logged(event.level, event.text, at, certainty))


def _unknowns(answer: Explanation, exploration: Exploration[PathResult]) -> None:
    roots: dict[str, str] = {}
    for path in exploration.paths:
        for fork in path.forks:
            for root in fork.roots:
                roots.setdefault(root, fork.text)
        if path.result.ok is None:
            at = path.result.at
            answer.unknowns.append(
                UnknownFact(
                    "outcome", path.result.reason, Location(at[0], at[1], symbol=at[2]) if at else None
                )
            )
        for note in path.result.notes:
            answer.unknowns.append(UnknownFact("a registration of the tree", note))
    for root, text in roots.items():
        answer.unknowns.append(UnknownFact(root, f"asked: {text}"))
    if not exploration.complete:
        answer.unknowns.append(
            UnknownFact("paths", f"more than {len(exploration.paths)} combinations of unknown facts")
        )
    if answer.outcome == STARTS:
        answer.unknowns.append(UnknownFact("running server", _RUNNING_ONLY))
    unique = {(one.what, one.reason, one.at): one for one in answer.unknowns}
    answer.unknowns = list(unique.values())
