"""A ``--config`` file that a script names is read with it, as the release's own reader merges the two."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.drift.session import Outcome, Request, run_check
from indexer.knowledge.history import load_history

LAUNCH = "python -m sglang.launch_server --model-path m --config server.yaml"


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return Timeline(HistoryFacts(load_history()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(timeline: Timeline, *paths: str, version: str = "0.5.23") -> Outcome:
    return run_check(Request([Path(path) for path in paths], versions=[version]), timeline)


def told(outcome: Outcome) -> list[str]:
    return [f"{f.file}:{f.line} {f.level} {f.code} {f.flag}" for f in outcome.report.findings]


def test_keys_stand_before_the_words_and_give_way_to_them(timeline: Timeline, folder: Path) -> None:
    Path("run.sh").write_text(LAUNCH + " --port 30000\n")
    Path("server.yaml").write_text("port: 1\ntp-size: 2\ndisable-radix-cache: false\nenable-metrics: true\n")
    assert told(check(timeline, "run.sh")) == []


def test_what_only_both_together_show(timeline: Timeline, folder: Path) -> None:
    Path("run.sh").write_text(LAUNCH + " --speculative-num-steps 3\n")
    Path("server.yaml").write_text("speculative-algorithm: EAGLE3\n")
    assert told(check(timeline, "run.sh")) == ["server.yaml:1 START refused speculative-algorithm"]
    Path("run.sh").write_text("python -m sglang.launch_server --config server.yaml\n")
    assert told(check(timeline, "run.sh")) == ["run.sh:1 START missing-value None"]
    Path("server.yaml").write_text("model-path: m\n")
    assert told(check(timeline, "run.sh")) == []


def test_a_files_own_mistakes_are_told_once_where_they_stand(timeline: Timeline, folder: Path) -> None:
    Path("run.sh").write_text(f"{LAUNCH}\n{LAUNCH}\n")
    Path("server.yaml").write_text("tp-size: two\nmem-fraction-statik: 0.9\n")
    expected = [
        "server.yaml:1 START invalid-value two",
        "server.yaml:2 START unknown-flag mem-fraction-statik",
    ]
    assert told(check(timeline, "run.sh")) == expected
    assert told(check(timeline, ".")) == expected


def test_keys_that_the_reader_refuses(timeline: Timeline, folder: Path) -> None:
    Path("run.sh").write_text(LAUNCH + "\n")
    Path("server.yaml").write_text("lora-paths: [a]\n")
    assert told(check(timeline, "run.sh", version="0.5.18")) == [
        "server.yaml:1 START config-key-refused lora-paths"
    ]


def test_a_file_elsewhere_is_found_among_those_checked_or_said_to_be_missing(
    timeline: Timeline, folder: Path
) -> None:
    Path("run.sh").write_text(LAUNCH.replace("server.yaml", "/etc/sglang/server.yaml") + "\n")
    outcome = check(timeline, "run.sh")
    assert [one.reason for one in outcome.report.unread] == [
        "--config /etc/sglang/server.yaml: there is no such file beside it"
    ]
    Path("files").mkdir()
    settings = "tp-sise: 2\ncontext-length: 4096\nmem-fraction-static: 0.8\n"
    Path("files/server.yaml").write_text(settings)
    outcome = check(timeline, "run.sh", "files/server.yaml")
    assert told(outcome) == ["files/server.yaml:1 START unknown-flag tp-sise"]
    assert outcome.report.unread == []
    Path("files/server.yaml").write_text("scrape-interval: 15s\ntensor-size: 4\n")  # of something else
    assert told(check(timeline, "run.sh", "files/server.yaml")) == []


def test_a_name_that_no_file_can_have_costs_no_finding(timeline: Timeline, folder: Path) -> None:
    long = "a" * 300
    Path("run.sh").write_text(LAUNCH.replace("server.yaml", f"{long}.yaml --tp-sise 2") + "\n")
    outcome = check(timeline, "run.sh")
    assert [line.rsplit(" ", 1)[1] for line in told(outcome)] == ["--tp-sise"]
    assert [one.reason for one in outcome.report.unread] == [
        f"--config {long}.yaml: there is no such file beside it"
    ]


def test_broken_and_strange_files_are_one_line(timeline: Timeline, folder: Path) -> None:
    Path("run.sh").write_text(LAUNCH + "\n")
    for text in ("a: [", "- a\n- b\n", "a: &x [*x]\n", "1: 2\n? [a]\n: b\n"):
        Path("server.yaml").write_text(text)
        check(timeline, "run.sh")
    Path("server.yaml").write_bytes(b"\0\1")
    assert [one.reason for one in check(timeline, "run.sh").report.unread] == ["--config server.yaml: binary"]
