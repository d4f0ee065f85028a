"""Lines told by what moved, and lists of numbers written short: both come back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indexer.knowledge.history_lines import Lines, Stretch, moves_of
from indexer.knowledge.runs import ranged, ranges, repeated, repeats

NUMBERS = st.lists(st.integers(0, 5))


@given(NUMBERS)
def test_repeats_come_back(numbers: list[int]) -> None:
    assert list(repeated(repeats(numbers))) == numbers


@given(NUMBERS)
def test_ranges_come_back(numbers: list[int]) -> None:
    assert list(ranged(ranges(numbers))) == numbers


PLACES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2), st.lists(st.integers(1, 30), min_size=1, max_size=6)),
    max_size=8,
)
"""First release, path, and the line in each release from there on."""


@given(PLACES, st.randoms())
def test_lines_come_back_in_any_order_of_asking(places: list[tuple[int, int, list[int]]], random) -> None:  # type: ignore[no-untyped-def]
    stretches = [Stretch(since, since + len(lines) - 1, path, lines[-1]) for since, path, lines in places]
    told = Lines(stretches, moves_of(stretches, [lines for _, _, lines in places]))
    asked = [
        (member, since + at, line)
        for member, (since, _, lines) in enumerate(places)
        for at, line in enumerate(lines)
    ]
    random.shuffle(asked)
    assert all(told.line(member, release) == line for member, release, line in asked)


def test_what_moves_together_is_told_once() -> None:
    stretches = [Stretch(0, 1, 0, line + 7) for line in range(10, 20)]
    assert moves_of(stretches, [[line, line + 7] for line in range(10, 20)]) == [(0, 0, [7, 10])]
