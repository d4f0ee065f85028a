"""Models × algorithms: what each model is drafted with, what is refused, what is not known."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from indexer.knowledge.pairings import Row
from indexer.publish.site import Page, VersionSite

STEM = "matrix/index"


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the matrix, where the version has models to show in it."""
    table = site.pairings
    if not table.rows or not table.algorithms:
        return
    names = [one.name for one in table.algorithms]
    yield Page(
        stem=STEM,
        template="matrix.html.j2",
        title="Models × algorithms",
        description=f"Which hybrid and MTP-capable models of SGLang {site.version} run with which algorithm.",
        data=[
            {
                "architecture": row.model.architecture,
                "kind": row.kind,
                "algorithms": dict(zip(names, map(msgspec.to_builtins, row.pairings), strict=True)),
            }
            for row in table.rows
        ],
        facts={"algorithms": table.algorithms, "groups": _groups(table.rows), "total": len(table.rows)},
    )


def _groups(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows by hybrid kind, in their order."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.kind or "not a hybrid", []).append(row)
    return list(groups.items())
