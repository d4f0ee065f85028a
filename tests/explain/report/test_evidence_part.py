"""The report's words for what launches came to: every number says what it counts."""

from __future__ import annotations

import pytest

from indexer.explain.report.evidence_part import _ended
from indexer.explain.report.gather import Proof


@pytest.mark.parametrize(
    ("state", "launches", "told"),
    [
        ("works", {"works": ["a"]}, "of 1 recorded launch 1 worked as asked"),
        (
            "works",
            {"works": ["a", "b"], "works-overridden": ["c"], "failed": ["d"], "refused": ["e", "f"]},
            "of 6 recorded launches 2 worked as asked, 1 worked with another value than asked, "
            "1 failed, 2 refused",
        ),
        (
            "flaky",
            {"works": ["a"], "failed": ["b"]},
            "of 2 recorded launches 1 worked as asked, 1 failed; the same launch did not always end alike",
        ),
    ],
)
def test_each_number_says_what_it_counts(state: str, launches: dict[str, list[str]], told: str) -> None:
    assert _ended(Proof("flag:x", "GPU", "1.0", state, launches)) == told
