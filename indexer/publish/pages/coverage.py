"""The coverage page: what was recognised, what was not, and what can't be known statically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from indexer.knowledge.shares import CALL_SITES, call_site_shares
from indexer.publish.site import Page, VersionSite


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the one page."""
    coverage = site.snapshot.coverage
    sites = coverage.counts.get(CALL_SITES, {})
    yield Page(
        stem="coverage",
        template="coverage.html.j2",
        title="Coverage",
        description=f"What was recognised in the source of SGLang {site.version}, and what was not.",
        data=msgspec.to_builtins(coverage),
        facts={
            "coverage": coverage,
            "counts": [(kind, told) for kind, told in sorted(coverage.counts.items()) if kind != CALL_SITES],
            "sites": {"total": sum(sites.values()), "shares": call_site_shares(sites)} if sites else None,
            "unknown_by_kind": Counter(entry.kind for entry in coverage.unknown).most_common(),
            "source": site.snapshot.source,
            "citations": site.citations,
        },
    )
