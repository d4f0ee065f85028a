"""What a model or an algorithm that a person names is to a code path."""

from __future__ import annotations

from typing import Any

from indexer.errors import UsageError
from indexer.extract.code_paths.plan import Hybrid
from indexer.knowledge.lookup import find_facts
from indexer.knowledge.schema import Model, Snapshot
from indexer.knowledge.values import as_location


def hybrid_of(snapshot: Snapshot, model: Model) -> Hybrid | None:
    """Return what a path must know of a hybrid model; None of one without a linear-attention backend, and of
    one whose configuration decides between several."""
    facts = model.hybrid or {}
    at = as_location(facts.get("backend_at"))
    if at is None or not facts.get("predicate") or _others(model):
        return None
    predicate = str(facts["predicate"])
    told = {
        str(one.hybrid.get("predicate"))
        for one in snapshot.models
        if one.hybrid and one.hybrid.get("backend_at")
    }
    return Hybrid(model.architecture, predicate, tuple(sorted(told - {predicate})), f"{at.path}:{at.line}")


def _others(model: Model) -> list[dict[str, Any]]:
    also = (model.hybrid or {}).get("also")
    return [one for one in also if one.get("backend")] if isinstance(also, list) else []


def named_variant(
    snapshot: Snapshot, architecture: str | None, algorithm: str | None
) -> tuple[str | None, Hybrid | None]:
    """Return the algorithm and the hybrid model that a person named, as a code path knows them.

    Raises:
        UsageError: the release has no such model or algorithm, the model has no recurrent state or one of
            several kinds, or the algorithm no worker.
    """
    version, model = snapshot.source.version, None
    if architecture is not None:
        named = find_facts(snapshot, "model", architecture)[0]
        model = hybrid_of(snapshot, named)
        if model is None and (others := _others(named)):
            told = [f"{one.get('backend')} if {one.get('condition')}" for one in (named.hybrid, *others)]
            raise UsageError(
                f"{named.architecture}'s configuration decides in SGLang {version}: {', '.join(told)}",
                "a code path knows no config.json; name a model that has only one of them",
            )
        if model is None:
            raise UsageError(
                f"{named.architecture} has no recurrent state in SGLang {version}",
                "code paths are about hybrid models; `indexer show model` says which are",
            )
    if algorithm is not None:
        known = find_facts(snapshot, "algorithm", algorithm)[0]
        if not known.workers:
            raise UsageError(f"{known.name} has no worker in SGLang {version}", "nothing is drafted then")
        algorithm = known.name
    return algorithm, model
