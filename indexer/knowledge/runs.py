"""Lists of numbers in which one follows from the other, written short: ``value, count, value, count``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def repeats(values: Iterable[int]) -> list[int]:
    """Return how often each value comes in a row: ``[0, 0, 7]`` is ``[0, 2, 7, 1]``."""
    runs: list[int] = []
    for value in values:
        if runs and value == runs[-2]:
            runs[-1] += 1
        else:
            runs += [value, 1]
    return runs


def repeated(runs: Sequence[int]) -> Iterator[int]:
    """Yield the values of ``repeats``."""
    for value, count in _pairs(runs):
        for _ in range(count):
            yield value


def ranges(numbers: Iterable[int]) -> list[int]:
    """Return the first of each unbroken range and its length: ``[3, 4, 9]`` is ``[3, 2, 9, 1]``."""
    runs: list[int] = []
    for number in numbers:
        if runs and number == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [number, 1]
    return runs


def ranged(runs: Sequence[int]) -> Iterator[int]:
    """Yield the numbers of ``ranges``."""
    for first, count in _pairs(runs):
        yield from range(first, first + count)


def _pairs(flat: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(flat[::2], flat[1::2], strict=True)
