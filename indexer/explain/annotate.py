"""Names the rules behind an explanation's lines, from the snapshot of the same version.

A snapshot is large and little of it is needed: what is, is kept in a small file of its own.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import IndexerError
from indexer.explain.explanation import (
    DRAFT_MODEL,
    DRAFT_NOT_LOOKED_UP,
    STARTS,
    Cause,
    Explanation,
    StartCheck,
    UnknownFact,
)
from indexer.explain.launches import Question, architecture_of
from indexer.extractor_version import rule_places_version
from indexer.knowledge.pairings import SEPARATE, pairings_of_model
from indexer.knowledge.schema import Location, Model, Snapshot
from indexer.source.cache import cache_folder, forget_older, keep


class RulePlace(msgspec.Struct, array_like=True):
    """Where a rule stands (first and last line), and the fields it writes."""

    id: str
    kind: str
    path: str
    line: int
    end_line: int
    targets: list[str]


class Fallback(msgspec.Struct, array_like=True):
    """The value a field gets where nothing sets it, and the line that declares it."""

    value: Any
    declared_at: Location


class RulePlaces(msgspec.Struct):
    """What explanations need of a snapshot.

    ``drafts`` are, by architecture and algorithm, the lines that say that a draft checkpoint is needed.
    """

    rules: list[RulePlace]
    fallbacks: dict[str, Fallback]
    drafts: dict[str, dict[str, Location | None]]


_DRAFT_PATH = "speculative_draft_model_path"


def draftless_algorithm(answer: Explanation) -> str | None:
    """Return the algorithm of an accepted launch that names no draft; None for any other launch."""
    algorithm = answer.speculative.get("speculative_algorithm")
    named = answer.speculative.get(_DRAFT_PATH, "")
    return algorithm if answer.outcome == STARTS and named is None else None


class Annotator:
    """Fills in rule ids, the declaration of fields that got their declared fallback, and lacking drafts."""

    def __init__(self, places: RulePlaces) -> None:
        self._fallbacks = places.fallbacks
        self._drafts = places.drafts
        self._rules: dict[str, list[RulePlace]] = defaultdict(list)
        for rule in places.rules:
            self._rules[rule.path].append(rule)

    def annotate(self, answer: Explanation, question: Question) -> Explanation:
        """Add what the snapshot knows to the explanation of a launch, in place, and return it."""
        self._tell_lacking_draft(answer, question)
        for refusal in [answer.refusal, *answer.refusals]:
            if refusal is not None and refusal.at is not None:
                refusal.rule = self._rule(refusal.at, ("error", "assert"), None)
        for name, change in answer.fields.items():
            change.by = [
                msgspec.structs.replace(cause, rule=self._rule(cause.at, ("override",), name))
                for cause in change.by
            ]
            fallback = self._fallbacks.get(name)
            if not change.by and fallback is not None and fallback.value == change.resolved:
                change.by = [Cause(fallback.declared_at)]
        return answer

    def name_rules(self, checks: list[StartCheck]) -> list[StartCheck]:
        """Add the rules that refuse a launch at start, in place, and return the checks."""
        for check in checks:
            check.refusals = [
                msgspec.structs.replace(one, rule=self._rule(one.at, ("error", "assert"), None))
                for one in check.refusals
            ]
        return checks

    def _tell_lacking_draft(self, answer: Explanation, question: Question) -> None:
        """Tell where resolution accepts a launch whose algorithm needs a draft checkpoint it doesn't name."""
        algorithm = draftless_algorithm(answer)
        if algorithm is None:
            return
        needed = self._drafts.get(architecture_of(question) or "", {})
        if algorithm in needed:
            said = f"{algorithm} needs a draft checkpoint for this model, and the launch names none"
            answer.unknowns.insert(0, UnknownFact(DRAFT_MODEL, said, needed[algorithm]))

    def _rule(self, at: Location, kinds: tuple[str, ...], field: str | None) -> str | None:
        found = [
            rule
            for rule in self._rules.get(at.path, ())
            if rule.line <= at.line <= rule.end_line and rule.kind in kinds
        ]
        found.sort(key=lambda rule: (rule.end_line - rule.line, rule.id))  # the shortest statement first
        about = [rule for rule in found if field is None or field in rule.targets]
        return (about or found)[0].id if about or (found and field is None) else None


def places_of(snapshot: Snapshot) -> RulePlaces:
    """Return what explanations need of a snapshot."""
    return RulePlaces(
        [
            RulePlace(
                rule.id, rule.kind, rule.at.path, rule.at.line, rule.at.end_line or rule.at.line, rule.targets
            )
            for rule in snapshot.rules
        ],
        {
            flag.dest: Fallback(flag.fallback, flag.declared_at)
            for flag in snapshot.flags
            if flag.fallback is not None and flag.declared_at is not None
        },
        {model.architecture: _drafts_of(snapshot, model) for model in snapshot.models if not model.is_draft},
    )


def _drafts_of(snapshot: Snapshot, model: Model) -> dict[str, Location | None]:
    pairings = pairings_of_model(snapshot, model)
    return {algorithm.name: one.at for algorithm, one in pairings if one.state == SEPARATE}


def annotator_for(snapshot: Snapshot) -> Annotator:
    """Return the annotator of a snapshot at hand; a release's is kept."""
    if snapshot.source.origin != "release":
        return Annotator(places_of(snapshot))
    try:
        file = _kept_file(snapshot.source.version)
    except IndexerError:
        return Annotator(places_of(snapshot))
    kept = _read(file)
    if kept is None:
        kept = places_of(snapshot)
        keep(file, msgspec.json.encode(kept))
        forget_older(file)
    return Annotator(kept)


def annotator_of(version: str, extract: bool) -> Annotator | None:
    """Return the annotator of a release; None where it has no snapshot yet and none is to be made."""
    from indexer.snapshots import cached_path, get_snapshot

    try:
        file = _kept_file(version)
        kept = _read(file)
        if kept is None:
            if not extract and not any(cached_path(version, part).is_file() for part in (True, False)):
                return None
            kept = places_of(get_snapshot(version, code_paths=False))
            keep(file, msgspec.json.encode(kept))
            forget_older(file)
        return Annotator(kept)
    except IndexerError:
        return None


def annotate_known(answer: Explanation, question: Question) -> Explanation:
    """Add what is known already of the answer's release, in place; say where what tells of drafts isn't."""
    annotator = annotator_of(answer.version, extract=False)
    if annotator is not None:
        return annotator.annotate(answer, question)
    algorithm = draftless_algorithm(answer)
    if algorithm is not None:
        said = (
            f"whether {algorithm} needs a draft checkpoint for this model, which the launch names none of, "
            f"is told by `indexer explain --version {answer.version}`"
        )
        answer.unknowns.append(UnknownFact(DRAFT_NOT_LOOKED_UP, said))
    return answer


def _kept_file(version: str) -> Path:
    return cache_folder("rule-places") / f"{version}-{rule_places_version()}.json"


def _read(file: Path) -> RulePlaces | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=RulePlaces)
    except (OSError, msgspec.MsgspecError):
        return None
