"""Rules of three releases against those read by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.extract.rules import extract_rules
from tests.extract.rules.golden import compare

FOUND = 0.98


@pytest.mark.release
@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_golden_rules_are_found(version: str, shared: Path, release_tree) -> None:
    rows = compare(version, shared / "golden", extract_rules(release_tree(version)))
    lost = [row.row["at"] for row in rows if not row.found]
    assert len(lost) <= (1 - FOUND) * len(rows), lost
    wrong = [(row.row["at"], row.missing_targets) for row in rows if row.found and row.missing_targets]
    assert len(wrong) <= (1 - FOUND) * len(rows), wrong
