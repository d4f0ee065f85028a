"""The pages of one version, one module per kind of fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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

_MODULES = (flags, env, models, rules, evidence, paths, algorithms, home, drift, matrix, coverage)
KINDS: Mapping[str, Callable[[VersionSite], Iterator[Page]]] = {
    module.__name__.rpartition(".")[2]: module.pages for module in _MODULES
}
"""What yields the pages of each kind of fact; what takes longest stands first."""


def all_pages(site: VersionSite) -> Iterator[Page]:
    """Yield every page of a version."""
    for pages in KINDS.values():
        yield from pages(site)
