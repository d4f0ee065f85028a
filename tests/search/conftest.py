"""The index of the default release, built once for all tests that search it."""

from __future__ import annotations

import pytest

from indexer.errors import CannotError
from indexer.search.documents import documents_of
from indexer.search.index import SearchIndex
from indexer.snapshots import get_snapshot


@pytest.fixture(scope="session")
def default_index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """The index of the default release; skips where it can be had neither from cache nor index."""
    try:
        snapshot = get_snapshot()
    except CannotError as error:
        pytest.skip(str(error))
    return SearchIndex.build(documents_of(snapshot), tmp_path_factory.mktemp("default") / "index")
