"""Relevance over the default release: a gold file, scored per category, with a floor for each.

MRR is the mean of 1 / rank of the first accepted answer, ``first`` the share that is answered first.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from indexer.search.index import SearchIndex

GOLD = json.loads((Path(__file__).parent / "gold.json").read_text())
CATEGORIES = sorted(GOLD["floors"])


@pytest.fixture(scope="module")
def ranks(default_index: SearchIndex) -> dict[str, list[tuple[str, int | None]]]:
    """For each category the queries with the rank of their first accepted answer."""
    found: dict[str, list[tuple[str, int | None]]] = defaultdict(list)
    for entry in GOLD["queries"]:
        ids = [hit.document.id for hit in default_index.search(entry["query"], limit=10)]
        rank = next((at for at, one in enumerate(ids, 1) if one in entry["accepted"]), None)
        found[entry["category"]].append((entry["query"], rank))
    return found


@pytest.mark.release
@pytest.mark.parametrize("category", CATEGORIES)
def test_relevance_stays_above_its_floor(
    ranks: dict[str, list[tuple[str, int | None]]], category: str
) -> None:
    scored = ranks[category]
    mrr = sum(1 / rank for _, rank in scored if rank) / len(scored)
    first = sum(rank == 1 for _, rank in scored) / len(scored)
    print(f"{category}: {len(scored)} queries, MRR {mrr:.2f}, first {first:.0%}")
    missed = [(query, rank) for query, rank in scored if rank != 1]
    floor = GOLD["floors"][category]
    assert mrr >= floor["mrr"], f"MRR {mrr:.2f}; not first: {missed}"
    assert first >= floor["first"], f"{first:.0%} first; not first: {missed}"


def test_every_category_has_queries_and_a_floor() -> None:
    assert {entry["category"] for entry in GOLD["queries"]} == set(CATEGORIES)
