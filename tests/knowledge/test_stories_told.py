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
