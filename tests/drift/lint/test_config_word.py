"""A ``--config`` file that the parser takes and nobody reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.knowledge.history import load_history


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return Timeline(HistoryFacts(load_history()))


def told(timeline: Timeline, tmp_path: Path, version: str, words: str) -> list[tuple[str, str | None]]:
    script = tmp_path / "launch.sh"
    script.write_text(f"{words}\n")
    result = Checker(timeline, [version], version).check_path(script, "launch.sh")
    return [(one.message, one.at) for one in result.findings if one.code == "config-not-read"]


SERVER = "python -m sglang.launch_server --model-path m"


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (
            f"{SERVER} --config=c.yaml",
            "--config=… is accepted, but SGLang 0.5.23 looks for the word ",
        ),
        (f"{SERVER} --conf c.yaml", "--conf is accepted, "),
        ("sglang serve m --config=c.yaml", "--config=… is accepted, "),
    ],
)
def test_a_file_that_is_not_looked_for_is_told(
    timeline: Timeline, tmp_path: Path, words: str, begins: str
) -> None:
    [(message, at)] = told(timeline, tmp_path, "0.5.23", words)
    assert message.startswith(begins)
    assert ("diffusion" in message) == words.startswith("sglang serve")
    assert at == "python/sglang/srt/server_args.py:683"


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("0.5.23", f"{SERVER} --config c.yaml"),
        ("0.5.23", f"{SERVER} --config=a.yaml --config b.yaml"),
        ("0.5.23", f"{SERVER} --config=a.yaml $MORE"),
        ("0.5.2", f"{SERVER} --config=c.yaml"),  # no such option yet
    ],
)
def test_what_is_read_or_not_known_is_not_told(
    timeline: Timeline, tmp_path: Path, version: str, words: str
) -> None:
    assert told(timeline, tmp_path, version, words) == []
