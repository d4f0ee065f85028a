"""A history file made of what the real parsers said, for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from indexer.knowledge.facts import facts_of
from indexer.knowledge.history_file import Release
from indexer.knowledge.history_fold import fold
from tests.oracle_snapshot import oracle_snapshot, oracle_versions


def write_history(oracle: Path, target: Path) -> Path:
    """Fold the oracle's versions into ``target`` and return it."""
    versions = oracle_versions(oracle)
    file = fold([Release(v) for v in versions], [facts_of(oracle_snapshot(oracle, v)) for v in versions])
    target.write_bytes(msgspec.json.encode(file))
    return target
