"""Progress on stderr for work over a second, silent where stderr is no terminal; and what must be told."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
_told: set[str] = set()


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show a spinner with ``text`` while the block runs."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def track(items: Iterable[Item], text: str, total: int | None = None) -> Iterator[Item]:
    """Yield ``items``, drawing a progress bar labelled ``text``."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as rich_track

    yield from rich_track(items, text, total=total, console=Console(stderr=True), transient=True)


def tell(text: str) -> None:
    """Say on stderr, once, what the user should know although the work goes on."""
    if text not in _told:
        _told.add(text)
        print(f"indexer: {text}", file=sys.stderr)
