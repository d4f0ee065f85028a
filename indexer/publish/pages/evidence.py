"""The evidence matrix and a page per launch record. Cells are computed from records, never typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.publish.site import Page, VersionSite
from indexer.validate.matrix import Cell, Matrix, machine_label, shares
from indexer.validate.records import Record

INDEX = ("Evidence", "evidence/index")
_ORDER = ("algorithm", "family", "flag", "rule")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the matrix, then each record."""
    matrix = site.evidence
    if matrix is None or not matrix.records:
        return
    columns = sorted({(cell.version, cell.machine) for cell in matrix.cells if cell.machine}, reverse=True)
    yield Page(
        stem="evidence/index",
        template="evidence.html.j2",
        title="Evidence",
        description="What real launches on GPUs say about flags, algorithms and rules.",
        data={
            "cells": msgspec.to_builtins(matrix.cells),
            "records": {key: f"evidence/{key}.json" for key in matrix.records},
        },
        facts={
            "columns": columns,
            "groups": _groups(matrix, columns),
            "total": len(matrix.records),
            "shares": shares(matrix, site.snapshot),
            "untested": [cell.subject for cell in matrix.cells if cell.state == "untested"],
        },
    )
    for record in matrix.records.values():
        yield _record_page(record)


def _groups(matrix: Matrix, columns: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the matrix by kind of subject: rows of a subject and its cell in each column."""
    rows: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in matrix.cells:
        if cell.machine:
            rows.setdefault(cell.subject, {})[cell.version, cell.machine] = cell
    groups: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _ORDER}
    for subject in sorted(rows):
        kind, _, name = subject.partition(":")
        cells = [rows[subject].get(column) for column in columns]
        groups.setdefault(kind, []).append({"name": name, "subject": subject, "cells": cells})
    return [{"kind": kind, "rows": listed} for kind, listed in groups.items() if listed]


def _record_page(record: Record) -> Page:
    return Page(
        stem=f"evidence/{record.id}",
        template="record.html.j2",
        title=record.launch,
        description=f"A launch of SGLang {record.version} on {machine_label(record)}: {record.outcome}.",
        data=msgspec.to_builtins(record),
        trail=[INDEX],
        facts={"record": record, "machine": machine_label(record)},
    )
