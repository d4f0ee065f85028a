"""The pages of one version, one module per kind of fact."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.publish.pages import (
    algorithms,
    coverage,
    drift,
    env,
    evidence,
    flags,
    home,
    matrix,
    models,
    paths,
    rules,
)
from indexer.publish.site import Page, VersionSite

_KINDS = (home, flags, algorithms, models, matrix, rules, paths, env, drift, evidence, coverage)


def all_pages(site: VersionSite) -> Iterator[Page]:
    """Yield every page of a version."""
    for kind in _KINDS:
        yield from kind.pages(site)
