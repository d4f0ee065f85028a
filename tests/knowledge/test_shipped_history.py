"""The shipped history against what the real parsers say, and against a fresh reading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexer.extract.followed import extract_followed
from indexer.knowledge.facts import Facts, FlagFact, facts_of
from indexer.knowledge.history import SHIPPED, History, load_history
from indexer.source.tree import SourceTree
from tests.oracle_snapshot import oracle_snapshot, oracle_versions

COMPARED = (
    "option_strings",
    "dest",
    "action",
    "nargs",
    "const",
    "default",
    "type",
    "choices",
    "required",
    "metavar",
    "hidden",
)


@pytest.fixture(scope="module")
def history() -> History:
    return load_history(SHIPPED)


def by_name(flags: list[FlagFact]) -> dict[str, FlagFact]:
    return {flag.name: flag for flag in flags}


@pytest.mark.oracle
def test_every_oracle_version(history: History, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the table: version, flags, and the wrong and unknown values of each attribute."""
    oracle = shared / "oracle"
    wrong: list[tuple[str, str, str, Any, Any]] = []
    rows = []
    for version in oracle_versions(oracle):
        real = by_name(facts_of(oracle_snapshot(oracle, version)).flags)
        ours = by_name(history.flags_at(version))
        assert ours.keys() == real.keys(), version
        unknown = 0
        before = len(wrong)
        for name, flag in ours.items():
            for attribute in COMPARED:
                said, is_real = getattr(flag, attribute), getattr(real[name], attribute)
                if isinstance(said, dict) and "unknown" in said:
                    unknown += 1
                elif said != is_real and attribute not in flag.machine_dependent:
                    wrong.append((version, name, attribute, said, is_real))
        rows.append(f"{version:<14}{len(ours):>6} flags {len(wrong) - before:>4} wrong {unknown:>4} unknown")
    with capsys.disabled():
        print("\n" + "\n".join(rows))
    assert wrong == []


def sorted_facts(facts: Facts) -> tuple[list[Any], ...]:
    kinds = (facts.flags, facts.algorithms, facts.env_vars, facts.fields)
    return tuple(sorted(kind, key=lambda fact: fact.name) for kind in kinds)


@pytest.mark.release
@pytest.mark.parametrize(
    "version",
    ["0.5.9", *(pytest.param(v, marks=pytest.mark.slow) for v in ("0.4.6.post5", "0.5.12", "0.5.23"))],
)
def test_a_fresh_reading_says_the_same(
    history: History, release_tree: Callable[[str], SourceTree], version: str
) -> None:
    fresh = facts_of(extract_followed(release_tree(version)))
    assert fresh.unrecognised == 0
    shipped = history.at(version)
    for told, read in zip(*(sorted_facts(facts)[2] for facts in (shipped, fresh)), strict=True):
        if told.read_at is None:
            read.read_at = None  # of a variable that was never declared only the first place is kept
    assert sorted_facts(shipped) == sorted_facts(fresh)
