from __future__ import annotations

import msgspec
import pytest

from indexer.extract.encoded import encode


@pytest.mark.parametrize("number", [0, -(2**63) + 1, 2**64 - 1])
def test_whole_numbers_of_64_bits_stay_numbers(number: int) -> None:
    assert encode(number) == number
    assert msgspec.json.decode(msgspec.json.encode(encode(number))) == number


def test_larger_ones_are_told_as_text() -> None:
    assert encode(10**30) == {"repr": "1" + "0" * 30}
    assert encode(1 << 100_000) == {"repr": "an integer of 100001 bits"}
