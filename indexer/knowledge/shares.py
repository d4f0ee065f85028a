"""How the call sites of a tree were resolved, as shares."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

EXTERNAL = "external"
CALL_SITES = "call sites"


class Share(msgspec.Struct, frozen=True):
    """Call sites of one kind: how many, and their per cent of the sites that are not external."""

    kind: str
    count: int
    percent: float


def call_site_shares(counts: Mapping[str, int]) -> tuple[float, list[Share]]:
    """Return the per cent of sites that call what is outside the tree, and the shares of the rest."""
    total = sum(counts.values())
    external = counts.get(EXTERNAL, 0)
    inside = max(total - external, 1)
    shares = [Share(kind, n, 100 * n / inside) for kind, n in counts.items() if kind != EXTERNAL]
    shares.sort(key=lambda share: -share.count)
    return 100 * external / max(total, 1), shares


def told(counts: Mapping[str, int]) -> str:
    """Return the shares as a line for a terminal."""
    external, shares = call_site_shares(counts)
    parts = ", ".join(f"{share.kind} {share.percent:.1f} %" for share in shares)
    return f"{sum(counts.values()):,} call sites, {external:.0f} % external; of the rest {parts}"
