"""All facts of one tree, gathered."""

from __future__ import annotations

import subprocess
from collections import Counter

from indexer import __version__
from indexer.collector import collector_paused
from indexer.extract.ahead import code_paths_read_ahead
from indexer.extract.algorithms import extract_algorithms
from indexer.extract.algorithms.links import link_algorithms
from indexer.extract.code_paths import extract_code_paths, path_counts
from indexer.extract.env_vars import ENV_USES, extract_env_vars
from indexer.extract.file_facts import load_facts
from indexer.extract.flag_sites import flag_sites
from indexer.extract.flags import extract_flags
from indexer.extract.models import extract_models
from indexer.extract.models.links import link_models
from indexer.extract.reads import FLAG_USES, extract_reads
from indexer.extract.replacements import REPLACEMENT_MESSAGES, stated_replacements
from indexer.extract.rules import extract_rules, unread_resolver
from indexer.knowledge.schema import SCHEMA_VERSION, Coverage, Flag, Snapshot, Source, Unknown, Unrecognised
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph.survey import survey
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph


def extract_snapshot(tree: SourceTree) -> Snapshot:
    """Return everything known about a tree.

    Raises:
        CannotError: it is not a SGLang tree, or its argument code can't be run.
    """
    with collector_paused(), code_paths_read_ahead(tree) as reader:
        return _extract(tree, reader)


def _extract(tree: SourceTree, reader: subprocess.Popen[bytes] | None) -> Snapshot:
    graph = ModuleGraph(tree, FactStore(cache_folder("facts")))
    facts = load_facts(graph, (ENV_USES, FLAG_USES, REPLACEMENT_MESSAGES), elsewhere=(ENV_USES,))
    sites = flag_sites(graph)
    flags, fields, unrecognised = extract_flags(tree, graph, sites)
    reads = extract_reads(graph, {name: site.namespace for name, site in sites.fields.items()}, facts)
    for flag in flags:
        flag.read_at = reads.get(flag.field or flag.dest, [])
    rules = extract_rules(graph)
    registry, algorithms = extract_algorithms(graph)
    link_algorithms(graph, algorithms, rules, reads)
    models = extract_models(graph)
    link_models(graph, models, rules)
    env_vars = extract_env_vars(graph, facts)
    if reader is not None:
        reader.wait()
    code_paths = extract_code_paths(tree, graph.store)
    coverage = Coverage(
        layouts=sites.layouts,
        counts={
            "flags": {
                "seen": sites.declarations,
                "recognised": len(flags),
                "unrecognised": len(unrecognised),
            },
            "choices": {
                "seen": sum(len(flag.choices_at) for flag in flags),
                "located": sum(choice.at is not None for flag in flags for choice in flag.choices_at),
            },
            "models": {
                "registered": len(models),
                "hybrid": sum(model.hybrid is not None for model in models),
                "with draft": sum(model.draft is not None for model in models),
            },
            "environment variables": {
                "declared": sum(variable.declared_at is not None for variable in env_vars),
                "only read": sum(variable.declared_at is None for variable in env_vars),
            },
            "call sites": survey(tree, graph.store).counts,
            "code paths": path_counts(code_paths),
            "rules": dict(sorted(Counter(rule.kind for rule in rules).items())),
        },
        unrecognised=[*unrecognised, *unread_resolver(rules)],
        unknown=_unknown_values(flags),
    )
    return Snapshot(
        schema=SCHEMA_VERSION,
        source=_source(tree),
        flags=flags,
        fields=fields,
        registry=registry,
        algorithms=algorithms,
        rules=rules,
        models=models,
        code_paths=code_paths,
        env_vars=env_vars,
        replacements=stated_replacements(
            graph, {option for flag in flags for option in flag.option_strings}, facts
        ),
        coverage=coverage,
        generator=f"indexer {__version__}",
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
