"""The rules of a release without the rest of its snapshot, kept in the user's cache."""

from __future__ import annotations

from pathlib import Path

import msgspec

from indexer.extractor_version import rules_version
from indexer.knowledge.schema import Algorithm, Rule
from indexer.source.cache import cache_folder, forget_older


class ReleaseRules(msgspec.Struct):
    """What the resolver and the start-up checks of a release do, and the algorithms they ask about."""

    rules: list[Rule]
    algorithms: list[Algorithm]


def _kept_at(version: str) -> Path:
    return cache_folder("rules") / f"{version}-{rules_version()}.json"


def kept_rules(version: str) -> ReleaseRules | None:
    """Return the rules of a release that were read before, None where none were."""
    path = _kept_at(version)
    try:
        return msgspec.json.decode(path.read_bytes(), type=ReleaseRules)
    except (OSError, msgspec.MsgspecError):
        return None


def release_rules(version: str) -> ReleaseRules:
    """Return the rules of a release, read now where they weren't before (up to 20 seconds).

    Raises:
        UsageError: there is no such release.
        CannotError: it can't be fetched or read.
    """
    kept = kept_rules(version)
    if kept is not None:
        return kept
    from indexer.extract.algorithms import extract_algorithms
    from indexer.extract.rules import extract_rules
    from indexer.knowledge.store import write_atomically
    from indexer.source.release import open_release
    from indexer.syntax.graph import ModuleGraph

    tree = open_release(version)
    graph = ModuleGraph(tree)
    found = ReleaseRules(extract_rules(graph), extract_algorithms(graph)[1])
    tree.close()
    path = _kept_at(version)
    write_atomically(path, msgspec.json.encode(found))
    forget_older(path)
    return found
