"""All facts of one tree, gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import msgspec

from indexer import __version__
from indexer.collector import collector_postponed
from indexer.extract.ahead import code_paths_read_ahead, read_files
from indexer.extract.algorithms import extract_algorithms
from indexer.extract.algorithms.links import link_algorithms
from indexer.extract.code_paths import extract_code_paths, path_counts
from indexer.extract.env_vars import ENV_USES, extract_env_vars
from indexer.extract.file_facts import load_facts
from indexer.extract.flag_sites import FlagSites, flag_sites
from indexer.extract.flags import extract_flags
from indexer.extract.models import extract_models
from indexer.extract.models.links import link_models
from indexer.extract.path_notes import add_path_notes
from indexer.extract.reads import FLAG_USES, extract_reads
from indexer.extract.replacements import REPLACEMENT_MESSAGES, stated_replacements
from indexer.extract.rules import extract_rules, unread_resolver
from indexer.knowledge.schema import (
    SCHEMA_VERSION,
    Coverage,
    Flag,
    Snapshot,
    Source,
    Unknown,
    Unrecognised,
)
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph.survey import survey
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph

CODE_PATHS = "code paths"
"""What ``Snapshot.left_out`` calls them: they and the count of call sites cost more than all else."""


def extract_snapshot(tree: SourceTree, code_paths: bool = True) -> Snapshot:
    """Return everything known about a tree; without ``code_paths`` in less than half the time.

    Raises:
        CannotError: it is not a SGLang tree, or its argument code can't be run.
    """
    store = FactStore(cache_folder("facts"))
    with collector_postponed():
        read_files(tree, store, code_paths)
        facts = partial(_extract, tree, store)
        return _with_code_paths(facts, tree, store) if code_paths else facts()


def add_code_paths(snapshot: Snapshot, tree: SourceTree) -> Snapshot:
    """Return a snapshot that was extracted without code paths with the code paths of its tree."""
    with collector_postponed():
        return _with_code_paths(lambda: snapshot, tree, FactStore(cache_folder("facts")))


def _with_code_paths(facts: Callable[[], Snapshot], tree: SourceTree, store: FactStore) -> Snapshot:
    """Return the other facts, read while the code paths are followed beside, with the code paths."""
    with code_paths_read_ahead(tree) as reader:
        snapshot = facts()
        sites = survey(tree, store, other=reader)
        if reader is not None:
            reader.wait()
        paths = extract_code_paths(tree, store)
    add_path_notes(ModuleGraph(tree, store), snapshot.models, paths)
    counts = {**snapshot.coverage.counts, "call sites": sites.counts, "code paths": path_counts(paths)}
    coverage = msgspec.structs.replace(snapshot.coverage, counts=counts)
    return msgspec.structs.replace(snapshot, code_paths=paths, coverage=coverage, left_out=[])


def extract_flag_snapshot(tree: SourceTree) -> Snapshot:
    """Return only the flags, their fields and the algorithms' names and choices, in a second or two.

    Raises:
        CannotError: it is not a SGLang tree, or its argument code can't be run.
    """
    with collector_postponed():
        graph = ModuleGraph(tree, FactStore(cache_folder("facts")))
        return _flags(graph, flag_sites(graph))


def _extract(tree: SourceTree, store: FactStore) -> Snapshot:
    graph = ModuleGraph(tree, store)
    facts = load_facts(graph, (ENV_USES, FLAG_USES, REPLACEMENT_MESSAGES), elsewhere=(ENV_USES,))
    sites = flag_sites(graph)
    snapshot = _flags(graph, sites)
    flags = snapshot.flags
    reads = extract_reads(graph, {name: site.namespace for name, site in sites.fields.items()}, facts)
    for flag in flags:
        flag.read_at = reads.get(flag.field or flag.dest, [])
    snapshot.rules = extract_rules(graph)
    link_algorithms(graph, snapshot.algorithms, snapshot.rules, reads)
    snapshot.models = extract_models(graph)
    link_models(graph, snapshot.models, snapshot.rules)
    snapshot.env_vars = extract_env_vars(graph, facts)
    options = {option for flag in flags for option in flag.option_strings}
    snapshot.replacements = stated_replacements(graph, options, facts)
    snapshot.coverage.unrecognised.extend(unread_resolver(snapshot.rules))
    snapshot.coverage.counts |= {
        "models": {
            "registered": len(snapshot.models),
            "hybrid": sum(model.hybrid is not None for model in snapshot.models),
            "with draft": sum(model.draft is not None for model in snapshot.models),
        },
        "environment variables": {
            "declared": sum(variable.declared_at is not None for variable in snapshot.env_vars),
            "only read": sum(variable.declared_at is None for variable in snapshot.env_vars),
        },
        "rules": dict(sorted(Counter(rule.kind for rule in snapshot.rules).items())),
    }
    snapshot.left_out = [CODE_PATHS]
    return snapshot


def _flags(graph: ModuleGraph, sites: FlagSites) -> Snapshot:
    flags, fields, unrecognised = extract_flags(graph.tree, graph, sites)
    registry, algorithms = extract_algorithms(graph)
    located = [choice.at is not None for flag in flags for choice in flag.choices_at]
    counts = {
        "flags": {
            "seen": sites.declarations,
            "recognised": len(flags),
            "unrecognised": len(unrecognised),
        },
        "choices": {"seen": len(located), "located": sum(located)},
    }
    return Snapshot(
        schema=SCHEMA_VERSION,
        source=_source(graph.tree),
        flags=flags,
        fields=fields,
        registry=registry,
        algorithms=algorithms,
        coverage=Coverage(sites.layouts, counts, list(unrecognised), _unknown_values(flags)),
        generator=f"indexer {__version__}",
        left_out=["reads", "rules", "links of algorithms", "models", "environment variables", CODE_PATHS],
    )


def _source(tree: SourceTree) -> Source:
    return Source(
        version=tree.version,
        origin=tree.origin,
        artifact=getattr(tree, "artifact", None),
        sha256=getattr(tree, "sha256", None),
        commit=getattr(tree, "commit", None),
        dirty=getattr(tree, "dirty", False),
        permalink_base=getattr(tree, "permalink_base", None),
    )


def _unknown_values(flags: list[Flag]) -> list[Unrecognised]:
    """Return every attribute of a flag that can't be known statically."""
    found = []
    for flag in flags:
        for attribute in ("nargs", "const", "default", "type", "choices", "metavar", "help", "fallback"):
            value = getattr(flag, attribute)
            at = flag.declared_at or flag.registered_at
            if isinstance(value, Unknown) and at is not None:
                found.append(Unrecognised("value", value.at or at, f"{flag.name}.{attribute}", value.unknown))
    return found
