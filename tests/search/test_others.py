"""What a query means that other releases have."""

from __future__ import annotations

import pytest

from indexer.knowledge.elsewhere import Elsewhere
from indexer.search.documents import Document
from indexer.search.others import meant_elsewhere
from indexer.search.ranking import Hit

OLD = Elsewhere("flag", "--mamba-scheduler-strategy", "0.5.19 was the last release to have it")
VARIABLE = Elsewhere("env", "SGLANG_ENABLE_SPEC_V2", "0.5.20 was the last release to have it")
KNOWN = [OLD, VARIABLE, Elsewhere("algorithm", "DFLASH", "it came with 0.5.11")]


def hit(name: str) -> Hit:
    return Hit(Document("flag:x", "flag", name, "1", "/", name, [name], "", "", "a.py", 1), 1.0)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("--mamba-scheduler-strategy", [OLD]),
        ("mamba_scheduler_strategy", [OLD]),
        ("unrecognized arguments --mamba-scheduler-strategy=auto", [OLD]),
        ("mamba scheduler strategy", [OLD]),
        ("spec v2", [VARIABLE]),
        ("SGLANG_ENABLE_SPEC_V2=1", [VARIABLE]),
        ("dflash", [KNOWN[2]]),
        ("mamba", []),  # one word of several means nothing in particular
        ("mamba radix strategy", []),
        ("", []),
    ],
)
def test_a_name_of_other_releases(query: str, found: list[Elsewhere]) -> None:
    assert meant_elsewhere(query, KNOWN, [hit("--mamba-radix-cache-strategy")]) == found


def test_words_that_name_something_here_mean_that() -> None:
    assert meant_elsewhere("scheduler strategy", KNOWN, []) == [OLD]
    assert meant_elsewhere("scheduler strategy", KNOWN, [hit("--scheduler-strategy-v2")]) == []


def test_the_command_tells_its_story() -> None:
    assert OLD.command == "indexer history mamba-scheduler-strategy"
