"""All facts of one tree, gathered."""

from __future__ import annotations

import gc
from collections import Counter

from indexer import __version__
from indexer.extract.flag_sites import flag_sites
from indexer.extract.flags import extract_flags
from indexer.extract.rules import extract_rules
from indexer.knowledge.schema import SCHEMA_VERSION, Coverage, Flag, Snapshot, Source, Unknown, Unrecognised
from indexer.source.tree import SourceTree
from indexer.syntax.graph import ModuleGraph


def extract_snapshot(tree: SourceTree) -> Snapshot:
    """Return everything known about a tree.

    Raises:
        CannotError: it is not a SGLang tree, or its argument code can't be run.
    """
    collecting = gc.isenabled()
    gc.disable()  # a run allocates many small objects and few cycles: collecting them doubles the time
    try:
        return _extract(tree)
    finally:
        if collecting:
            gc.enable()


def _extract(tree: SourceTree) -> Snapshot:
    graph = ModuleGraph(tree)
    sites = flag_sites(graph)
    flags, fields, unrecognised = extract_flags(tree, graph, sites)
    rules = extract_rules(graph)
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
            "rules": dict(sorted(Counter(rule.kind for rule in rules).items())),
        },
        unrecognised=unrecognised,
        unknown=_unknown_values(flags),
    )
    return Snapshot(
        schema=SCHEMA_VERSION,
        source=_source(tree),
        flags=flags,
        fields=fields,
        rules=rules,
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
