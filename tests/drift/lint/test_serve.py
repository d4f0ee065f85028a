"""``sglang serve``: what is refused for certain, what only of a language model, what is not ours."""

from __future__ import annotations

import pytest

from indexer.drift.check import Checker
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.knowledge.history import load_history


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return Timeline(HistoryFacts(load_history()))


def findings(timeline: Timeline, version: str, text: str) -> list[str]:
    found = Checker(timeline, [version], version).check_text(text + "\n", "shell", "x.sh").findings
    return [f"{one.level} {one.code} {one.flag}" for one in found if one.level != "HINT"]


@pytest.mark.parametrize(
    ("version", "words", "expected"),
    [
        # Both parsers refuse what neither knows, from the version on whose diffusion parser does.
        ("0.5.23", "--model-path m --foo", ["START unknown-flag --foo"]),
        ("0.5.10", "--model-path m --foo", ["START unknown-flag --foo"]),
        ("0.5.9", "--model-path m --foo", ["MEANING unknown-flag --foo"]),
        # An option that only the server has decides, even an abbreviated one or one of another version.
        ("0.5.9", "--model-path m --foo --mem-fraction-static 0.8", ["START unknown-flag --foo"]),
        ("0.5.9", "--model-path m --foo --mem-frac 0.8", ["START unknown-flag --foo"]),
        ("0.5.9", "--model-path m --gpu-memory-utilization 0.8", ["START wrong-engine-flag"]),
        ("0.5.23", "--model-path m --tp-size two", ["START invalid-value two"]),
        ("0.5.23", "--model-path m --log-level", ["START missing-value --log-level"]),
        # The diffusion parser has this option too, with values of its own.
        ("0.5.23", "--model-path m --attention-backend sage_attn", ["MEANING invalid-choice sage_attn"]),
        (
            "0.5.23",
            "--model-type llm --model-path m --attention-backend sage_attn",
            ["START invalid-choice sage_attn"],
        ),
        ("0.5.23", "--model-type diffusion --model-path m --attention-backend sage_attn --foo", []),
        ("0.5.23", "--model-type of_a_plugin --model-path m --foo", []),
        ("0.5.23", "--model-path m --num-gpus 2 --foo", []),
        # Parts of a diffusion model are named by options that its parser doesn't declare.
        ("0.5.23", "--model-path m --text-encoder-3-path t --vae-config.use-tiling true", []),
        ("0.5.23", "--model-path m --speculative-draft-path d", []),
        ("0.5.23", "--model-path m --speculative_num_steps 3", ["START unknown-flag"]),
        # The first word may be the model from 0.5.16 on, --model-type exists from 0.5.10 on.
        ("0.5.16", "m", []),
        ("0.5.15", "m", ["START missing-value None"]),
        ("0.5.15", "$MODEL", []),
        ("0.5.15", "m $MORE", []),
        ("0.5.15", "--model-path m", []),
        ("0.5.9", "--model-path m --model-type llm", ["START future-flag --model-type"]),
        # The command came with 0.5.5.
        ("0.5.5", "--model-path m", []),
        ("0.5.4", "--model-path m", ["START future-flag serve"]),
    ],
)
def test_what_the_command_refuses(timeline: Timeline, version: str, words: str, expected: list[str]) -> None:
    found = findings(timeline, version, "sglang serve " + words)
    assert len(found) == len(expected)
    assert all(one.startswith(beginning) for one, beginning in zip(found, expected, strict=True))


def test_the_condition_is_said(timeline: Timeline) -> None:
    checker = Checker(timeline, ["0.5.9"], "0.5.9")
    found = checker.check_text("sglang serve --model-path m --foo\n", "shell", "x.sh").findings[0]
    assert "where the model is a language model; for a diffusion model it is ignored" in found.message


@pytest.mark.parametrize("program", ["python -m sglang.launch_server", "sglang serve"])
def test_words_of_another_branchs_program_are_not_judged(timeline: Timeline, program: str) -> None:
    script = f'''
if [ -n "$TWO" ]; then CMD="python -m sglang.launch_two --model-path m"; MORE="--lb-host a"
else CMD="{program} --model-path m"; MORE="--mem-fraction-static 0.8"; fi
$CMD $MORE'''
    assert findings(timeline, "0.5.23", script) == []
    source = """
if two:
    command = ["python", "-m", "sglang.launch_two", "--model-path", "m"]
else:
    command = ["sglang", "serve", "--model-path", "m"]
if two:
    command.extend(["--lb-host", "a"])
command += ["--nonsense"]
"""
    found = Checker(timeline, ["0.5.23"], "0.5.23").check_text(source, "python", "x.py").findings
    assert [one.flag for one in found] == ["--nonsense"]
