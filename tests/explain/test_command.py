"""From pasted commands to arguments."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from indexer.cli import cli
from indexer.errors import UsageError
from indexer.explain.command import server_arguments, split_command


@pytest.mark.parametrize(
    ("text", "argv", "env"),
    [
        ("python -m sglang.launch_server --model-path m", ["--model-path", "m"], {}),
        ("python3 -m sglang.launch_server \\\n  --tp 4", ["--tp", "4"], {}),
        ("sglang serve --model-path m", ["--model-path", "m"], {}),
        ("SGLANG_X=1 env Y='a b' python -m sglang.launch_server --port 1", ["--port", "1"],
         {"SGLANG_X": "1", "Y": "a b"}),
        ("--speculative-algorithm NEXTN", ["--speculative-algorithm", "NEXTN"], {}),
        ("numactl -N 0 python /opt/sglang/launch_server.py --tp=2", ["--tp=2"], {}),
        ("""python -m sglang.launch_server --json-model-override-args '{"a": 1}'""",
         ["--json-model-override-args", '{"a": 1}'], {}),
    ],
)  # fmt: skip
def test_arguments_and_environment(text, argv, env):
    assert server_arguments(split_command(text)) == (argv, env)


@pytest.mark.parametrize(
    "text",
    ["vllm serve m", "python -m sglang.launch_server --tp $TP", "python -m sglang.launch_server --x ${Y}"],
)
def test_what_is_no_launch_is_said(text):
    with pytest.raises(UsageError):
        server_arguments(split_command(text))


def test_an_open_quote_is_said():
    with pytest.raises(UsageError, match="quote"):
        split_command("python -m sglang.launch_server --x 'a")


def test_a_word_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match="not text in UTF-8"):
        server_arguments(["--served-model-name", "a\udcffb"])


@pytest.mark.parametrize("word", ["--gpuz", "--installed"])
def test_an_option_that_is_not_ours_before_the_dashes_is_a_mistake(word: str) -> None:
    result = CliRunner().invoke(cli, ["explain", word, "--gpu", "H200", "--", "--tp-size", "1"])
    assert result.exit_code == 2
    assert f"No such option '{word}'" in result.output


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--version", "0.5.9", "--versions", "0.5.20.."], "--version and --versions"),
        (["--version", "0.5.9", "--checkout", "."], "--checkout and --version"),
        (["--rev", "main"], "--rev without --checkout"),
        (["--model", ".", "--arch", "LlamaForCausalLM"], "--model and --arch"),
        (["--gpu", "cpu", "--gpus", "2"], "--gpu cpu"),
        (["--batch", "-", "--gpu", "H200"], "--batch and --gpu"),
    ],
)
def test_two_ways_of_saying_one_thing_are_a_mistake(given: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["explain", *given, "--", "--tp-size", "1"])
    assert isinstance(result.exception, UsageError) and said in str(result.exception)
