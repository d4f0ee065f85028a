"""Rules of three releases against those read by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.extract.rules import extract_rules
from tests.extract.rules.golden import compare

FOUND = 0.98
MOST_IN_PROSE = {"0.5.9": 9, "0.5.17": 14, "0.5.23": 5}
"""Rows whose guard is told in prose and was compared by eye (``golden.REVIEWED``)."""


@pytest.mark.release
@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_golden_rules_are_found(version: str, shared: Path, rules_of) -> None:
    rows = compare(version, shared / "golden", rules_of(version))
    lost = [row.row["at"] for row in rows if not row.found]
    assert len(lost) <= (1 - FOUND) * len(rows), lost
    unlike = [row.row["at"] for row in rows if row.missing_conditions]
    assert len(unlike) <= MOST_IN_PROSE[version], unlike
    wrong = [(row.row["at"], row.missing_targets) for row in rows if row.found and row.missing_targets]
    assert len(wrong) <= (1 - FOUND) * len(rows), wrong


@pytest.mark.release
def test_extraction_is_deterministic(rules_of, release_tree) -> None:
    assert extract_rules(release_tree("0.5.9"), jobs=1) == rules_of("0.5.9")
