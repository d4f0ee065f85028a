"""The resolver's verdicts become findings only where file and explanation are both certain."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.conflicts import PLACEHOLDER, Conflicts
from indexer.drift.lint.facts import Timeline
from indexer.knowledge.schema import Location
from tests.drift.oracle_facts import OracleFacts

pytestmark = pytest.mark.oracle
LAUNCH = "python -m sglang.launch_server --model-path {model} --speculative-num-draft-tokens {tokens}\n"


@pytest.fixture(scope="module")
def timeline(shared: Path) -> Timeline:
    return Timeline(OracleFacts(shared / "oracle"))


def refused(certainty: str = "will") -> Any:
    at = Location("python/sglang/x.py", 7)
    refusal = SimpleNamespace(exception="AssertionError", message="", at=at, certainty=certainty)
    return SimpleNamespace(outcome="refused", refusal=refusal, fields={})


def replaced(certainty: str = "will") -> Any:
    cause = SimpleNamespace(at=Location("python/sglang/y.py", 9))
    change = SimpleNamespace(asked=1, resolved=2, certainty=certainty, by=[cause])
    return SimpleNamespace(
        outcome="starts", refusal=None, fields={"speculative_num_draft_tokens": change, "port": change}
    )


def check(timeline: Timeline, answer: Any, text: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
    asked: list[tuple[Any, ...]] = []

    def explain(*question: Any) -> Any:
        asked.append(question)
        return answer

    checker = Checker(timeline, ["0.5.23"], "0.5.23", extra=Conflicts(timeline, explain))
    return checker.check_text(text, "shell", "x.sh").findings, asked


def test_certain_refusal_is_a_start_finding(timeline: Timeline) -> None:
    findings, asked = check(timeline, refused(), LAUNCH.format(model="m", tokens=3))
    assert [(f.code, f.level, f.at) for f in findings] == [("refused", "START", "python/sglang/x.py:7")]
    assert asked == [("0.5.23", ["--model-path", "m", "--speculative-num-draft-tokens", "3"], {})]


def test_certain_override_names_both_values(timeline: Timeline) -> None:
    findings, _ = check(timeline, replaced(), LAUNCH.format(model="m", tokens=1))
    assert [(f.code, f.level, f.flag) for f in findings] == [
        ("overridden", "MEANING", "--speculative-num-draft-tokens")
    ]
    assert findings[0].replacement == "--speculative-num-draft-tokens 2"


@pytest.mark.parametrize("answer", [refused("may"), replaced("may"), None])
def test_what_only_may_happen_is_not_told(timeline: Timeline, answer: Any) -> None:
    assert check(timeline, answer, LAUNCH.format(model="m", tokens=1))[0] == []


def test_unknown_path_is_named_but_unknown_number_is_not_guessed(timeline: Timeline) -> None:
    _, asked = check(timeline, None, LAUNCH.format(model="$MODEL", tokens=3))
    assert asked[0][1][:2] == ["--model-path", PLACEHOLDER]
    assert check(timeline, None, LAUNCH.format(model="m", tokens="$N"))[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "python -m sglang.launch_server --model-path m $EXTRA\n",
        'python -m sglang.launch_server --model-path m "$@"\n',
        "python -m sglang.launch_server --model-path m --no-such-flag\n",
        "python -m sglang.bench_one_batch --model-path m --batch-size 1\n",
        "A=''\nif x; then A='--tp-size 2'; fi\npython -m sglang.launch_server --model-path m $A\n",
    ],
)
def test_incomplete_or_refused_launches_are_not_explained(timeline: Timeline, text: str) -> None:
    assert check(timeline, refused(), text)[1] == []


def test_settings_are_handed_on(timeline: Timeline) -> None:
    _, asked = check(timeline, None, "export SGLANG_X=1\n" + LAUNCH.format(model="m", tokens=3))
    assert asked[0][2] == {"SGLANG_X": "1"}
