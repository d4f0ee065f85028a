"""The prebuilt search index of a release in the user's cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.extractor_version import extractor_version, search_version
from indexer.source.cache import cache_folder

if TYPE_CHECKING:
    from indexer.knowledge.schema import Snapshot
    from indexer.search.index import SearchIndex


def index_folder(version: str) -> Path:
    """Return where the search index of a release lies."""
    return cache_folder("search") / f"{version}-{extractor_version()}-{search_version()}"


def cached_index(version: str) -> SearchIndex | None:
    """Return the release's index, or None where it has to be built (also when it is damaged)."""
    folder = index_folder(version)
    if not folder.is_dir():
        return None
    from indexer.search.index import SearchIndex

    try:
        return SearchIndex(folder)
    except Exception:  # Whoosh raises many kinds for a damaged folder; a rebuild mends them all
        shutil.rmtree(folder, ignore_errors=True)
        return None


def build_index(snapshot: Snapshot) -> SearchIndex:
    """Build the index of a snapshot in the user's cache and drop older ones of that release."""
    from indexer.search.documents import documents_of
    from indexer.search.index import SearchIndex

    version = snapshot.source.version
    folder = index_folder(version)
    built = SearchIndex.build(documents_of(snapshot), folder)
    for old in folder.parent.glob(f"{version}-*-*"):
        if old != folder and old.name.rsplit("-", 2)[0] == version:
            shutil.rmtree(old, ignore_errors=True)
    return built
