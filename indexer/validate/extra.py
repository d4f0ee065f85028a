"""Modules that only the extra ``validate`` brings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from indexer.errors import CannotError

_BROUGHT = ("numpy", "zstandard", "allpairspy")


@contextmanager
def validate_extra() -> Iterator[None]:
    """Say which extra brings a module that the imports of the block miss.

    Raises:
        CannotError: one of the extra's modules is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in _BROUGHT:
            raise
        fix = "pip install 'sglang-indexer[validate]'"
        raise CannotError(f"{error.name} is not installed", fix) from None
