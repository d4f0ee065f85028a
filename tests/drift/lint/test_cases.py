"""The labelled launch files: every labelled finding, and no other at START or MEANING."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.knowledge.history import load_history
from tests.drift.oracle_facts import OracleFacts

_LABEL = re.compile(r"\[([\w.]+)\] (?:of \d+ flags: )?\d+ ok(.*)", re.DOTALL)
BY_HELP_ONLY = {"--enable-flashinfer-allreduce-fusion"}
"""Deprecated by the words of its help text alone; the oracle keeps no help texts."""


def labels(answer: str) -> dict[str, dict[str, set[str]]]:
    """Return version → what is labelled there."""
    found: dict[str, dict[str, set[str]]] = {}
    for part in answer.split(" || "):
        match = _LABEL.match(part.strip())
        if match:
            said = match[2]
            refused = said.split("missing/ambiguous:")[1].split("; deprecated:")[0]
            deprecated = said.split("; deprecated:")[1]
            found[match[1]] = {
                "abbreviated": set(re.findall(r"(--[\w-]+) \(ok\(prefix", said)),
                "refused": set(re.findall(r"'(--[\w-]+): ", refused)),
                "deprecated": set(re.findall(r"'(--[\w-]+) \[", deprecated)),
            }
    return found


def cases(shared: Path) -> list[dict[str, str]]:
    lines = (shared / "cases" / "cases.jsonl").read_text().splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == "f"]


@pytest.mark.oracle
@pytest.mark.parametrize("source", ["oracle", "shipped history"])
def test_every_labelled_finding_and_no_other(shared: Path, source: str) -> None:
    facts = OracleFacts(shared / "oracle") if source == "oracle" else HistoryFacts(load_history())
    timeline, checked = Timeline(facts), 0
    by_help = BY_HELP_ONLY if source == "oracle" else set()
    for case in cases(shared):
        path = shared / "cases" / case["command"]
        for version, label in labels(case["right_answer"]).items():
            if version not in timeline.position:
                continue
            checked += 1
            result = Checker(timeline, [version], version).check_path(path, path.name)
            where = f"{case['id']} on {version}"
            by_code: dict[str, set[str]] = {}
            for finding in result.findings:
                by_code.setdefault(finding.code, set()).add("--" + (finding.flag or "").removeprefix("--"))
            starts = {"--" + (f.flag or "").removeprefix("--") for f in result.findings if f.level != "HINT"}
            # What is labelled for lines that are commented out concerns no launch.
            commented = "COMMENTED" in case["right_answer"]
            assert starts == (set() if commented else label["refused"]), where
            if not commented:
                assert by_code.get("abbreviated-flag", set()) == label["abbreviated"], where
                assert by_code.get("deprecated-flag", set()) == label["deprecated"] - by_help, where
            assert not result.unread, where
    assert checked > (25 if source == "oracle" else 40)
