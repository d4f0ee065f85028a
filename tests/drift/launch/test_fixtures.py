"""Launch files of every kind, hostile ones too: what is found, where, and on which version."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.drift.check import Checker, FileResult
from indexer.drift.launch.read import Unreadable, load
from indexer.drift.lint.facts import Timeline
from tests.drift.launch.expected import EXPECTED
from tests.drift.oracle_facts import OracleFacts

FIXTURES = Path(__file__).parents[2] / "fixtures" / "launch"


def shown(result: FileResult) -> list[str]:
    """Return the findings as ``line:column code flag``, in reading order."""
    ordered = sorted(result.findings, key=lambda f: (f.line, f.column, f.code))
    return [f"{f.line}:{f.column} {f.code} {f.flag}" for f in ordered]


@pytest.fixture(scope="module")
def timeline(shared: Path) -> Timeline:
    return Timeline(OracleFacts(shared / "oracle"))


def test_every_fixture_has_its_expectation() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == set(EXPECTED)


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_findings(name: str, timeline: Timeline) -> None:
    versions, findings, unread = EXPECTED[name]
    result = Checker(timeline, [], "0.5.23").check_path(FIXTURES / name, name)
    assert shown(result) == findings
    assert " ".join(result.versions) == versions
    assert [item.reason for item in result.unread] == unread


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_places_hold_the_flag(name: str, timeline: Timeline) -> None:
    """The text at a finding's place is the flag as it is told, for whatever is written literally."""
    result = Checker(timeline, [], "0.5.23").check_path(FIXTURES / name, name)
    for finding in result.findings:
        line = (result.text or "").split("\n")[finding.line - 1]
        assert line[finding.column - 1 :].startswith(finding.flag or ""), (finding.line, finding.flag)


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_carriage_returns_change_nothing(name: str, timeline: Timeline) -> None:
    try:
        text, kind = load(FIXTURES / name)
    except Unreadable:
        return
    checker = Checker(timeline, [], "0.5.23")
    unix = text.replace("\r\n", "\n")
    windows = checker.check_text(unix.replace("\n", "\r\n"), kind, name)
    assert shown(windows) == shown(checker.check_text(unix, kind, name))
