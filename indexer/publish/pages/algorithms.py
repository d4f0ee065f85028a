"""The algorithms table and a page per algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from indexer.knowledge.records import fact_record
from indexer.knowledge.schema import Algorithm, Flag
from indexer.publish.site import Page, VersionSite

INDEX = ("Algorithms", "algorithms/index")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the table of algorithms, then each of them."""
    algorithms = site.snapshot.algorithms
    if not algorithms:
        return
    registry = site.snapshot.registry
    yield Page(
        stem="algorithms/index",
        template="algorithms.html.j2",
        title="Algorithms",
        description=f"Every speculative algorithm SGLang {site.version} knows, from its enum or registry.",
        data=[fact_record(site.version, "algorithm", algorithm) for algorithm in algorithms],
        facts={
            "algorithms": algorithms,
            "registry": registry,
            "excerpt": site.source.excerpt(registry.declared_at)
            if registry and registry.declared_at
            else None,
            "predicates": predicate_table(algorithms),
        },
    )
    for algorithm in algorithms:
        yield _page(site, algorithm)


def _page(site: VersionSite, algorithm: Algorithm) -> Page:
    flags = _flags(site, algorithm)
    return Page(
        stem=f"algorithms/{algorithm.name}",
        template="algorithm.html.j2",
        title=algorithm.name,
        description=f"Speculative algorithm {algorithm.name} in SGLang {site.version}.",
        data=fact_record(site.version, "algorithm", algorithm),
        trail=[INDEX],
        facts={
            "algorithm": algorithm,
            "excerpt": site.source.excerpt(algorithm.declared_at, context=1),
            "flags": flags,
            "story": site.story("algorithm", algorithm.name),
            "cells": site.cells(f"algorithm:{algorithm.name}"),
            "rules": [
                site.links.rules_by_id[key] for key in algorithm.rules if key in site.links.rules_by_id
            ],
        },
    )


def _flags(site: VersionSite, algorithm: Algorithm) -> list[tuple[str, Flag | None]]:
    """Return the flags an algorithm reads; None beside a field that has no flag."""
    found = []
    for name in algorithm.flags:
        flags = site.links.flags(name)
        found.append((name, flags[0] if flags else None))
    return found


def predicate_table(algorithms: list[Algorithm]) -> list[tuple[str, list[Any]]]:
    """Return predicate → its value for each algorithm (None where not known), those that differ first."""
    names = dict.fromkeys(name for algorithm in algorithms for name in algorithm.predicates)
    rows = [(name, [algorithm.predicates.get(name) for algorithm in algorithms]) for name in names]
    return sorted(rows, key=lambda row: len({str(value) for value in row[1]}) == 1)
