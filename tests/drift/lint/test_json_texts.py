"""Texts that every server parses as JSON: what a shell leaves of them, and what is no JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.drift.lint.json_texts import JsonTexts
from indexer.knowledge.history import load_history

FIXTURES = Path(__file__).parents[2] / "fixtures" / "launch"


@pytest.fixture(scope="module")
def checker() -> Checker:
    timeline = Timeline(HistoryFacts(load_history()))
    return Checker(timeline, ["0.5.23"], "0.5.23", [JsonTexts(timeline)])


def test_what_a_shell_leaves_of_quotes(checker: Checker) -> None:
    found = checker.check_path(FIXTURES / "json_values.sh", "x.sh").findings
    assert [(f.line, f.code, f.flag) for f in found if f.line < 39] == [
        (line, "refused", "--json-model-override-args") for line in range(34, 39)
    ]
    assert found[0].at == "python/sglang/srt/configs/model_config.py:612"


@pytest.mark.parametrize("name", ["json_values.py", "json_values.yaml"])
def test_right_ones_have_no_finding(checker: Checker, name: str) -> None:
    assert not [f for f in checker.check_path(FIXTURES / name, name).findings if f.level == "START"]


@pytest.mark.parametrize(
    "value", ["'{\"a\": 1}' --tp-size 2", "'{\"a\": $X}'", "'{bad' --json-model-override-args {}"]
)
def test_the_last_value_counts_where_it_is_told(checker: Checker, value: str) -> None:
    text = f"python -m sglang.launch_server --model-path m --json-model-override-args {value}\n"
    assert "refused" not in {f.code for f in checker.check_text(text, "shell", "x.sh").findings}
