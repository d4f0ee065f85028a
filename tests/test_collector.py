"""The collector around work that makes many objects."""

from __future__ import annotations

import gc
import weakref

import pytest

from indexer.collector import collector_paused, collector_postponed


class Knot:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize("block", [collector_paused, collector_postponed])
def test_the_collector_runs_again_after_a_block_that_failed(block) -> None:
    with pytest.raises(KeyError), block():
        assert not gc.isenabled()
        raise KeyError("x")
    assert gc.isenabled()


def test_a_block_inside_another_changes_nothing() -> None:
    with collector_postponed():
        with collector_postponed():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_garbage_of_a_block_is_collected_a_few_blocks_later() -> None:
    with collector_postponed():
        knot = weakref.ref(Knot())
    for _ in range(20):
        with collector_postponed():
            pass
    assert knot() is None
