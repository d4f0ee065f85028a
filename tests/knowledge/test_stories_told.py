"""Every story of a flag, replayed to a release, is what the real parser of that release says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from indexer.cli.history import command
from indexer.errors import UsageError
from indexer.knowledge.history import load_history
from indexer.knowledge.lookup_history import stories
from indexer.knowledge.stories import Story, flag_story
from tests.oracle_snapshot import oracle_versions

TOLD = ("default", "dest", "type", "nargs", "action", "required")
"""What a story tells the changes of, by argparse's names."""


def replayed(story: Story, version: str) -> dict[str, Any] | None:
    """Return the values that a story tells of a release, None where it says that the flag is not there."""
    order = load_history().index
    there = False
    state: dict[str, Any] = {}
    for event in story.events:
        if order(event.version) > order(version):
            # What changes later tells what was before.
            label = event.text.split(" ")[0]
            if event.what in ("changed", "choices"):
                state.setdefault("choices" if event.what == "choices" else label, event.old)
            continue
        if event.what in ("appeared", "removed"):
            there = event.what == "appeared"
            state = {"default": event.new} if there else {}
        elif event.what == "choices":
            state["choices"] = event.new
        elif event.what == "changed":
            state[event.text.split(" ")[0]] = event.new
    return state if there else None


def told_wrongly(story: Story, flag: dict[str, Any] | None, version: str) -> list[str]:
    state = replayed(story, version)
    if (state is None) != (flag is None):
        return [f"{story.name} in {version}: told {'absent' if state is None else 'there'}"]
    return [
        f"{story.name} in {version}: {name} told {state[name]!r}, is {flag[name]!r}"
        for name in (*TOLD, "choices")
        if flag is not None and state is not None and name in state and not _same(name, state[name], flag)
    ]


def _same(name: str, told: Any, flag: dict[str, Any]) -> bool:
    value = flag[name]
    if isinstance(told, dict) and "unknown" in told:
        return True
    if name == "choices" and isinstance(told, list) and isinstance(value, list):
        return sorted(map(str, told)) == sorted(map(str, value))
    return bool(told == value) or str(told) == str(value)


@pytest.mark.oracle
def test_the_stories_are_true_in_every_release_of_the_oracle(shared: Path) -> None:
    history = load_history()
    parsers = {
        version: json.loads((shared / "oracle" / f"flags-{version}.json").read_text())["flags"]
        for version in oracle_versions(shared / "oracle")
    }
    owners = {
        version: {option: flag for flag in flags for option in flag["option_strings"]}
        for version, flags in parsers.items()
    }
    options = sorted({option for flags in owners.values() for option in flags} - {"-h", "--help"})
    assert len(options) > 600
    wrong = []
    for option in options:
        story = flag_story(history, option)
        assert story is not None, option
        for version, flags in owners.items():
            wrong += told_wrongly(story, flags.get(option), version)
    assert wrong == []


def test_a_story_that_is_not_true_is_noticed() -> None:
    story = flag_story(load_history(), "--mamba-scheduler-strategy")
    assert story is not None
    flag = {"dest": "mamba_scheduler_strategy", "default": "auto", "choices": None}
    assert told_wrongly(story, None, "0.5.12") and told_wrongly(story, flag, "0.5.23")
    assert told_wrongly(story, flag | {"default": "no_buffer"}, "0.5.12")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("tp size", "--tp-size"),
        ("--tp-size=8", "--tp-size"),
        ("tp-size@0.5.9", "--tp-size"),
        ("eagle-3", "EAGLE3"),
        ("$SGLANG_ENABLE_SPEC_V2", "SGLANG_ENABLE_SPEC_V2"),
        ("SGLANG_ENABLE_SPEC_V2=1", "SGLANG_ENABLE_SPEC_V2"),
    ],
)
def test_names_as_they_are_pasted(typed: str, told: str) -> None:
    assert [story.name for story in stories(load_history(), typed)] == [told]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("MTP", "did you mean NEXTN"),
        ("NEXTM", "did you mean NEXTN?"),
        ("Qwen3NextForCausalLM", "the history is of flags, algorithms and environment variables"),
        ("radix cache is not there", "indexer history --message 'radix cache is not there'"),
    ],
)
def test_what_is_said_of_a_name_that_is_none(typed: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        CliRunner().invoke(command, [typed], catch_exceptions=False)


@pytest.mark.parametrize(
    ("pasted", "told"),
    [
        (
            "argument --speculative-algorithm: invalid choice: 'EAGLE4' (choose from 'EAGLE', 'NEXTN')",
            [
                "lists 'EAGLE4' among the choices",
                "did you mean EAGLE, EAGLE3?",
                "0.5.3         choices: + NGRAM",
            ],
        ),
        (
            "argument --speculative-algorithm: invalid choice: 'NGRAM' (choose from 'EAGLE')",
            [
                "'NGRAM' is among the listed choices of --speculative-algorithm in 0.5.3 … 0.5.11",
                "history NGRAM",
            ],
        ),
        (
            "argument --speculative-eagle-topk: invalid int value: 'x'",
            [
                "--speculative-eagle-topk takes a value of int()",
                "choices 1, 2, 4, 8 → not listed",
            ],
        ),
        (
            "unrecognized arguments: --speculative-num-draft-token 4",
            ["argparse takes it for --speculative-num-draft-tokens", "--speculative-num-draft-tokens (flag)"],
        ),
        (
            "unrecognized arguments: --mamba-scheduler-strategy auto --speculative-num-stpes=4",
            [
                "0.5.7 … 0.5.19, gone since",
                "--speculative-num-stpes; did you mean --speculative-num-steps",
            ],
        ),
        ("the following arguments are required: --model-path/--model", ["--model-path (flag)"]),
    ],
)
def test_errors_of_argparse_are_told_with_the_story_of_their_option(pasted: str, told: list[str]) -> None:
    asked = ["of", "--message", f"usage: launch_server.py [-h]\nlaunch_server.py: error: {pasted}"]
    result = CliRunner().invoke(command, asked, catch_exceptions=False)
    assert result.exit_code == 0
    assert [one for one in told if one not in result.output] == []
    record = json.loads(CliRunner().invoke(command, [*asked, "--json"], catch_exceptions=False).output)
    assert record["argparse"]["problem"] == pasted
    assert record["options"]


def test_an_error_of_argparse_about_an_option_that_never_was() -> None:
    with pytest.raises(UsageError, match="has --nonsense-wombat, or an option like it"):
        asked = ["of", "--message", "error: unrecognized arguments: --nonsense-wombat 4"]
        CliRunner().invoke(command, asked, catch_exceptions=False)
