"""Python's cyclic garbage collector, out of the way of work that makes many objects and no garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Run the block without the cyclic collector, which would double the time of such work.

    For a block whose objects are gone when it ends.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_postponed = 0
_MOST_POSTPONED = 4


@contextmanager
def collector_postponed() -> Iterator[None]:
    """Run the block without the collector, and leave its garbage to one of the next such blocks.

    For a block that leaves millions of objects behind: the collector would walk over all of them as soon as
    it is let loose. A command that runs one block and ends never pays for that; one that runs thousands
    collects every few blocks, and keeps the garbage of the last few. A block inside another changes nothing.
    """
    global _postponed
    if not gc.isenabled():
        yield
        return
    gc.disable()
    if _postponed >= _MOST_POSTPONED:
        _postponed = 0
        gc.unfreeze()
        gc.collect()
    try:
        yield
    finally:
        _postponed += 1
        gc.freeze()
        gc.enable()
