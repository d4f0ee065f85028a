"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.source.tree import SourceTree

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of oracle, golden facts and cases that lies beside the repository."""
    override = os.environ.get("SGLANG_INDEXER_SHARED")
    places = (
        [Path(override)] if override else [REPOSITORY.parent / "shared", REPOSITORY.parent.parent / "shared"]
    )
    for place in places:
        if (place / "oracle").is_dir():
            return place
    pytest.skip("no ../shared beside the repository (or set SGLANG_INDEXER_SHARED)")


@pytest.fixture(scope="session")
def release_tree() -> Callable[[str], SourceTree]:
    """Open a released SGLang's tree; skips where its wheel can be had neither from cache nor index."""
    from indexer.errors import CannotError
    from indexer.source import open_source

    opened: dict[str, SourceTree] = {}

    def open_release(version: str) -> SourceTree:
        if version not in opened:
            try:
                opened[version] = open_source(version)
            except CannotError as error:
                pytest.skip(f"sglang {version}: {error}")
        return opened[version]

    return open_release
