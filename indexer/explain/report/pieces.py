"""Pieces of a Markdown report: tables and citations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from indexer.explain.explanation import Cause
from indexer.explain.render import place
from indexer.knowledge.schema import Location, Value


def section(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a headed table; nothing where it would have no rows."""
    return f"## {title}\n\n{table(heads, rows)}" if rows else ""


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def cite(at: Location | Value | None) -> str:
    """Return a place in brackets, nothing where there is none."""
    if isinstance(at, dict):
        at = Location(at["path"], at["line"])
    return f"({place(at)})" if isinstance(at, Location) else ""


def cites(causes: Iterable[Cause]) -> str:
    """Return the places of causes."""
    return cites_of(cause.at for cause in causes)


def cites_of(places: Iterable[Location]) -> str:
    """Return places, one after the other."""
    return ", ".join(place(one) for one in places)


def plain(value: Any) -> str:
    """Return a value as a report shows it."""
    if isinstance(value, dict) and set(value) == {"unknown"}:
        return f"? ({value['unknown']})"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 90 else text[:87] + "…"
