"""Every command that the real resolver accepted (``../shared/oracle/resolve``) is free of START findings.

The other direction is counted by kind: what the real parser refused has one, and so has a share of what the
resolver refused, which a launch file alone often can't tell (the model decides).
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.algorithms import UnknownAlgorithm
from indexer.drift.lint.certain import CertainConflicts
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.drift.lint.json_texts import JsonTexts
from indexer.drift.report.record import START
from indexer.knowledge.history import load_history
from indexer.knowledge.rehearsal import load_rehearsals
from tests.oracle_resolve import names, open_oracle

pytestmark = [pytest.mark.oracle, pytest.mark.slow]


def _command(case: dict) -> str:
    settings = [f"{name}={shlex.quote(value)}" for name, value in (case.get("env") or {}).items()]
    argv = [shlex.quote(word.replace("{M}", "/models")) for word in case["argv"]]
    return " ".join([*settings, "python -m sglang.launch_server", *argv])


def test_what_starts_has_no_start_finding(shared: Path) -> None:
    timeline = Timeline(HistoryFacts(load_history()))
    rehearsals = load_rehearsals()
    extras = [JsonTexts(timeline), CertainConflicts(timeline, rehearsals)]
    always = [UnknownAlgorithm(timeline, lambda: rehearsals)]
    false, unseen, started, refused, seen = [], [], 0, 0, 0
    for name in names(shared):
        oracle = open_oracle(shared, name)
        checker = Checker(timeline, [oracle.version], oracle.version, extras, always)
        text = "\n".join(map(_command, oracle.cases)) + "\n"
        hurt = {one.line for one in checker.check_text(text, "shell", name).findings if one.level == START}
        for line, case in enumerate(oracle.cases, 1):
            starts = case["ok"] and case.get("check_server_args", "ok") == "ok"
            started += starts
            refused += not starts
            seen += not starts and line in hurt
            if starts and line in hurt:
                false.append(f"{name}: {_command(case)}")
            if case.get("stage") == "parse" and line not in hurt:
                unseen.append(f"{name}: {_command(case)}")
    assert false == []
    assert unseen == []
    assert started > 2000 and refused > 1000
    assert seen / refused > 0.5, "conflicts of the options alone are seen"
