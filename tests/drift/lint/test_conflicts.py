"""The resolver's verdicts become findings only where file and explanation are both certain."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.conflicts import Conflicts
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.whole import PLACEHOLDER
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


def started(resolved: int | None = None, certainty: str = "will") -> Any:
    cause = SimpleNamespace(at=Location("python/sglang/y.py", 9))
    change = SimpleNamespace(asked=1, resolved=resolved, certainty=certainty, by=[cause])
    fields = {} if resolved is None else {"speculative_num_draft_tokens": change, "port": change}
    return SimpleNamespace(outcome="starts", refusal=None, fields=fields)


UNKNOWN = SimpleNamespace(outcome="unknown", refusal=None, fields={})
CONTROL = [refused(), started()]
"""What the worlds say of the launch without the blamed option: one serves it."""


def check(
    timeline: Timeline, worlds: list[Any], text: str, control: list[Any] = CONTROL
) -> tuple[list[Any], list[Any]]:
    asked: list[tuple[Any, ...]] = []

    def explain(version: str, argv: list[str], env: dict[str, str]) -> list[Any]:
        asked.append((version, argv, env))
        return worlds if "--speculative-num-draft-tokens" in argv else control

    checker = Checker(timeline, ["0.5.23"], "0.5.23", extras=[Conflicts(timeline, explain)])
    return checker.check_text(text, "shell", "x.sh").findings, asked


def test_refused_everywhere_and_served_without_the_number(timeline: Timeline) -> None:
    findings, asked = check(timeline, [refused(), refused()], LAUNCH.format(model="m", tokens=3))
    assert [(f.code, f.level, f.flag, f.at) for f in findings] == [
        ("refused", "START", "--speculative-num-draft-tokens", "python/sglang/x.py:7")
    ]
    assert asked[0] == ("0.5.23", ["--model-path", PLACEHOLDER, "--speculative-num-draft-tokens", "3"], {})


def test_refused_with_and_without_is_the_models_business(timeline: Timeline) -> None:
    launch = LAUNCH.format(model="m", tokens=3)
    assert check(timeline, [refused(), refused()], launch, control=[refused(), refused()])[0] == []


def test_replaced_alike_wherever_it_starts(timeline: Timeline) -> None:
    launch = LAUNCH.format(model="m", tokens=1)
    findings, _ = check(timeline, [started(2), refused(), started(2)], launch)
    assert [(f.code, f.level, f.replacement) for f in findings] == [
        ("overridden", "MEANING", "--speculative-num-draft-tokens 2")
    ]


@pytest.mark.parametrize(
    "worlds",
    [
        [refused("may"), refused("may")],
        [started(2, "may"), started(2, "may")],
        [started(2), started(3)],
        [started(2), refused(), refused()],
        [refused(), refused(), started()],
        [refused(), UNKNOWN],
        [UNKNOWN],
        [],
    ],
)
def test_what_is_not_certain_is_not_told(timeline: Timeline, worlds: list[Any]) -> None:
    assert check(timeline, worlds, LAUNCH.format(model="m", tokens=1))[0] == []


def test_unknown_path_is_named_but_unknown_number_is_not_guessed(timeline: Timeline) -> None:
    assert check(timeline, [UNKNOWN], LAUNCH.format(model="$MODEL", tokens=3))[1][0][1][1] == PLACEHOLDER
    assert check(timeline, [UNKNOWN], LAUNCH.format(model="m", tokens="$N"))[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "python -m sglang.launch_server --model-path m --speculative-num-draft-tokens 3 $EXTRA\n",
        'python -m sglang.launch_server --model-path m --speculative-num-draft-tokens 3 "$@"\n',
        "python -m sglang.launch_server --model-path m --speculative-num-draft-tokens 3 --no-such-flag\n",
        "python -m sglang.bench_one_batch --model-path m --speculative-num-draft-tokens 3 --batch-size 1\n",
        "A=''\nif x; then A='--speculative-num-draft-tokens 3'; fi\n"
        "python -m sglang.launch_server --model-path m $A\n",
        "python -m sglang.launch_server --model-path m --tp-size 2\n",
    ],
)
def test_incomplete_or_refused_launches_are_not_asked_about(timeline: Timeline, text: str) -> None:
    assert check(timeline, [refused()], text)[1] == []


def test_settings_are_handed_on(timeline: Timeline) -> None:
    _, asked = check(timeline, [UNKNOWN], "export SGLANG_X=1\n" + LAUNCH.format(model="m", tokens=3))
    assert asked[0][2] == {"SGLANG_X": "1"}
