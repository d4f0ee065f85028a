"""The prebuilt search index of a release in the user's cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from indexer.extractor_version import extractor_version, search_version
from indexer.source.cache import cache_folder

if TYPE_CHECKING:
    from indexer.knowledge.elsewhere import Elsewhere
    from indexer.knowledge.schema import Snapshot
    from indexer.search.index import SearchIndex
    from indexer.search.messages import MessageIndex

_RULES, _WORDINGS, _ELSEWHERE = "rules.json", "wordings.json", "elsewhere.json"
"""Files beside an index: what a search may need of the snapshot and of the history, ready to be read."""


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


def message_index(version: str) -> MessageIndex:
    """Return the messages of a release from beside its index, which is quicker than from its snapshot; where
    there is no index yet, from the snapshot."""
    from indexer.knowledge.schema import Rule
    from indexer.search.messages import MessageIndex, Wording

    folder = index_folder(version)
    try:
        words = msgspec.json.decode((folder / _WORDINGS).read_bytes(), type=list[Wording])
        raw = (folder / _RULES).read_bytes()
    except (OSError, msgspec.MsgspecError):
        from indexer.snapshots import get_snapshot

        return MessageIndex.of(get_snapshot(version, code_paths=False).rules)
    return MessageIndex(words, lambda: msgspec.json.decode(raw, type=list[Rule]))


def elsewhere_beside(version: str) -> list[Elsewhere]:
    """Return what other releases have and this one has not, from beside its index."""
    from indexer.knowledge.elsewhere import Elsewhere, names_elsewhere

    try:
        return msgspec.json.decode((index_folder(version) / _ELSEWHERE).read_bytes(), type=list[Elsewhere])
    except (OSError, msgspec.MsgspecError):
        return names_elsewhere(version)


def build_index(snapshot: Snapshot) -> SearchIndex:
    """Build the index of a snapshot in the user's cache and drop older ones of that release."""
    from indexer.knowledge.elsewhere import names_elsewhere
    from indexer.search.documents import documents_of
    from indexer.search.index import SearchIndex
    from indexer.search.messages import wordings

    version = snapshot.source.version
    folder = index_folder(version)
    beside = {
        _RULES: msgspec.json.encode(snapshot.rules),
        _WORDINGS: msgspec.json.encode(wordings(snapshot.rules)),
        _ELSEWHERE: msgspec.json.encode(names_elsewhere(version)),
    }
    built = SearchIndex.build(documents_of(snapshot), folder, beside)
    for old in folder.parent.glob(f"{version}-*-*"):
        if old != folder and old.name.rsplit("-", 2)[0] == version:
            shutil.rmtree(old, ignore_errors=True)
    return built
