"""Where the chains to a function begin."""

from __future__ import annotations

from indexer.syntax.callgraph.survey import Place, Survey, chains, entries


def graph(*edges: tuple[int, int]) -> Survey:
    places = [Place("a.py", number, f"f{number}") for number in range(8)]
    return Survey(places, ["direct"], [(caller, 1, callee, 0) for caller, callee in edges], {})


def test_functions_that_nothing_is_seen_to_call_come_nearest_first() -> None:
    # 0 → 1 → 2 and 3 → 2; 4 ⇄ 5 → 2 is a ring that nothing enters; 6 → 7 is elsewhere.
    made = graph((0, 1), (1, 2), (3, 2), (4, 5), (5, 4), (5, 2), (6, 7))
    assert entries(made, {2}) == [3, 0]
    assert chains(made, {6}, {2}) is None
    assert entries(made, {0}) == []
