"""A code path as it is for a model or an algorithm that a person names."""

from __future__ import annotations

from indexer.errors import UsageError
from indexer.extract.code_paths.extract import code_path_variant
from indexer.extract.code_paths.plan import Hybrid
from indexer.knowledge.lookup import find_facts
from indexer.knowledge.schema import CodePath, Model, Snapshot
from indexer.knowledge.values import as_location
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore


def hybrid_of(model: Model) -> Hybrid | None:
    """Return what a path must know of a hybrid model; None of one without a linear-attention backend."""
    facts = model.hybrid or {}
    at = as_location(facts.get("backend_at"))
    if at is None or not facts.get("predicate"):
        return None
    return Hybrid(model.architecture, str(facts["predicate"]), f"{at.path}:{at.line}")


def path_variant(
    snapshot: Snapshot,
    tree: SourceTree,
    store: FactStore,
    path: str,
    architecture: str | None,
    algorithm: str | None,
) -> CodePath:
    """Return the code path ``path`` of a release, followed for another hybrid model or algorithm.

    Raises:
        UsageError: the release has no such model or algorithm, the model has no recurrent state, the
            algorithm no worker, or the release has nothing that the path is about.
    """
    version, model = snapshot.source.version, None
    if architecture is not None:
        named = find_facts(snapshot, "model", architecture)[0]
        model = hybrid_of(named)
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
    found = code_path_variant(tree, store, path, algorithm, model)
    if found is None:
        raise UsageError(
            f"SGLang {version} has nothing that {path} is about for {algorithm or 'its algorithm'}",
            f"`indexer show path {path}` has the path itself",
        )
    return found
