"""Which model runs with which algorithm: only what the facts of a release say, each with its line."""

from __future__ import annotations

import re

import msgspec

from indexer.knowledge.algorithm_tests import AlgorithmTests
from indexer.knowledge.schema import Algorithm, Location, Model, Snapshot
from indexer.knowledge.values import as_location, plain_form, written_place

OWN, SEPARATE, NO_DRAFT, REFUSED, UNKNOWN = "own", "separate", "no draft", "refused", "unknown"
SLIDING_WINDOW = "sliding window"
_REFUSALS = ("error", "assert")
_NEXT_N = re.compile(r"NEXTN|MTP")


class Note(msgspec.Struct, omit_defaults=True):
    """Something to know about a pairing, and the line it is read from."""

    text: str
    at: Location | None = None


class Pairing(msgspec.Struct, omit_defaults=True):
    """A model with an algorithm.

    ``state`` is ``own`` (a draft is made of the target's own checkpoint, as ``draft``), ``separate`` (a
    draft checkpoint is needed; with ``draft`` an unset path loads the target's as that), ``no draft``,
    ``refused`` (where ``condition`` holds, or always) or ``unknown``. ``at`` is the line that says so.
    """

    state: str
    at: Location | None = None
    draft: str | None = None
    condition: str | None = None
    notes: list[Note] = []


class Row(msgspec.Struct):
    """A model and its pairing with each algorithm, in the order of the columns."""

    model: Model
    kind: str | None
    pairings: list[Pairing]


class Pairings(msgspec.Struct):
    """The table: its columns and rows."""

    algorithms: list[Algorithm]
    rows: list[Row]


def pairings_of(snapshot: Snapshot) -> Pairings:
    """Return the pairings of every model that is a hybrid or has a draft class of its own."""
    algorithms = _columns(snapshot)
    uncommitted = _uncommitted(snapshot)
    models = _shown(snapshot)
    models.sort(key=lambda one: (_rank(one), str((one.hybrid or {}).get("kind")), one.architecture.lower()))
    table = {one.name: [_pairing(model, one, uncommitted) for model in models] for one in algorithms}
    # What most readers come for stands first: algorithms that many models have a draft class for.
    algorithms.sort(key=lambda one: -sum(pairing.state == OWN for pairing in table[one.name]))
    rows = [
        Row(model, _kind(model), [table[one.name][number] for one in algorithms])
        for number, model in enumerate(models)
    ]
    return Pairings(algorithms, rows)


def has_pairings(snapshot: Snapshot) -> bool:
    """Tell whether the table of a snapshot has anything in it."""
    return bool(_columns(snapshot) and _shown(snapshot))


def _columns(snapshot: Snapshot) -> list[Algorithm]:
    return [one for one in snapshot.algorithms if one.name != "NONE"]


def _shown(snapshot: Snapshot) -> list[Model]:
    return [one for one in snapshot.models if not one.is_draft and (one.hybrid or one.draft)]


def pairings_of_model(snapshot: Snapshot, model: Model) -> list[tuple[Algorithm, Pairing]]:
    """Return the pairing of one model with each algorithm."""
    uncommitted = _uncommitted(snapshot)
    return [(one, _pairing(model, one, uncommitted)) for one in _columns(snapshot)]


def _rank(model: Model) -> int:
    """Sort recurrent state first, then sliding windows, then models that only have a draft."""
    kind = _kind(model)
    return 2 if kind is None else int(kind == SLIDING_WINDOW)


def _kind(model: Model) -> str | None:
    kind = (model.hybrid or {}).get("kind")
    return plain_form(kind) if kind else None


def _pairing(model: Model, algorithm: Algorithm, uncommitted: dict[str, list[Note]]) -> Pairing:
    found = _refusal(model, algorithm)
    if found is not None and found.condition is None:
        return found
    pairing = _draft(model, algorithm)
    if found is not None:
        pairing.notes.append(Note(f"refused if {found.condition}", found.at))
    if _rank(model) == 0:
        pairing.notes += uncommitted.get(algorithm.name, [])
    return pairing


def _draft(model: Model, algorithm: Algorithm) -> Pairing:
    need = algorithm.draft_model
    at = algorithm.draft_model_at[0] if algorithm.draft_model_at else algorithm.declared_at
    if need is None:
        return Pairing(UNKNOWN, at)
    if need == "none":
        return Pairing(NO_DRAFT, at)
    if need == "refused":
        return Pairing(NO_DRAFT, at, notes=[Note("a draft model is refused")])
    if "own layers" not in need:
        return Pairing(SEPARATE, at)
    tests = AlgorithmTests(algorithm)
    draft = model.draft or {}
    also = draft.get("also")
    for mapping in (draft, *(also if isinstance(also, list) else [])):
        name = mapping.get("architecture")
        if not isinstance(name, str):
            continue
        value, left = tests.reduce(mapping.get("condition") or "True")
        if value is False:
            continue
        own = tests.asked or _is_next_n(algorithm)
        return Pairing(
            OWN if own else SEPARATE, as_location(mapping.get("mapping_at")), name, " and ".join(left) or None
        )
    return Pairing(SEPARATE, at)


def _is_next_n(algorithm: Algorithm) -> bool:
    """Tell whether an algorithm is the one for the target's own next-token layers."""
    return any(_NEXT_N.search(name) for name in (algorithm.name, *(one.name for one in algorithm.aliases)))


def _refusal(model: Model, algorithm: Algorithm) -> Pairing | None:
    """Return the check that refuses the algorithm because of the model, an unconditional one first."""
    tests = AlgorithmTests(algorithm)
    found: list[Pairing] = []
    for entry in (*model.overrides, *model.backends):
        condition = entry.get("condition")
        if entry.get("kind") not in _REFUSALS or not isinstance(condition, str):
            continue
        value, left = tests.reduce(condition)
        if value is False or not tests.asked or entry.get("kind") == "assert":
            continue
        found.append(Pairing(REFUSED, as_location(entry.get("at")), condition=" and ".join(left) or None))
    return min(found, key=lambda one: len(one.condition or ""), default=None)


def _uncommitted(snapshot: Snapshot) -> dict[str, list[Note]]:
    """Return, by algorithm, the workers that never commit the recurrent state after a verification."""
    missing: dict[str, Location | None] = {}
    for path in snapshot.code_paths:
        for finding in path.findings:
            if finding.get("point") == "commit":
                missing.setdefault(re.split(r"[ .]", str(finding.get("what")))[0], _at(finding))
    found: dict[str, list[Note]] = {}
    for algorithm in snapshot.algorithms:
        for worker in algorithm.workers:
            if worker.class_name in missing:
                when = f" (chosen if {worker.condition})" if worker.condition else ""
                text = f"{worker.class_name}{when} never commits the recurrent state after verifying"
                found.setdefault(algorithm.name, []).append(Note(text, missing[worker.class_name]))
    return found


def _at(finding: dict) -> Location | None:
    """Return the first line of a finding."""
    places = finding.get("at")
    return written_place(places[0]) if isinstance(places, list) and places else None
