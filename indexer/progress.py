"""Progress on stderr for work over a second, silent where stderr is no terminal; and what must be told."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")
_COUNT_STEP = 50
_PATIENCE = 0.5
"""Seconds without a word; loading what draws takes a tenth of one."""
_told: set[str] = set()
_texts: list[str] = []
_spinners: list[Any] = []


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show a spinner with ``text`` while the block runs; inside of another one, in its place."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    _texts.append(text)
    try:
        if len(_texts) > 1:
            _spinners[-1].update(text)
            yield
        else:
            with Console(stderr=True).status(text) as spinner:
                _spinners.append(spinner)
                yield
    finally:
        _texts.pop()
        if _texts:
            _spinners[-1].update(_texts[-1])
        else:
            _spinners.clear()


def track(items: Iterable[Item], text: str, total: int | None = None) -> Iterator[Item]:
    """Yield ``items``, drawing a progress bar labelled ``text``."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as rich_track

    yield from rich_track(items, text, total=total, console=Console(stderr=True), transient=True)


def count(items: Iterable[Item], text: str) -> Iterator[Item]:
    """Yield ``items``, whose number isn't known, telling how many there were so far: ``text: 1,200``."""
    if not sys.stderr.isatty():
        yield from items
        return
    begun, status = time.monotonic(), None
    try:
        for number, item in enumerate(items, 1):
            if status is None and time.monotonic() - begun > _PATIENCE:
                from rich.console import Console

                status = Console(stderr=True).status(text)
                status.start()
            if status is not None and number % _COUNT_STEP == 0:
                status.update(f"{text}: {number:,}")
            yield item
    finally:
        if status is not None:
            status.stop()


def tell(text: str) -> None:
    """Say on stderr, once, what the user should know although the work goes on."""
    if text not in _told:
        _told.add(text)
        print(f"indexer: {text}", file=sys.stderr)
