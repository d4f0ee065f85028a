"""Small pieces of markup."""

from __future__ import annotations

import shlex

from indexer.publish.markup import shell_lines

WORDS = ["python", "-m", "sglang.launch_server", "--model-path", "m", "--json", '{"a": 1}', "--flag"]


def test_a_command_stands_with_one_option_a_line_and_can_be_pasted() -> None:
    shown = shell_lines(WORDS)
    assert shown.splitlines()[:2] == ["python -m sglang.launch_server \\", "  --model-path m \\"]
    assert shlex.split(shown.replace("\\\n", " ")) == WORDS


def test_a_command_may_start_with_an_option() -> None:
    assert shell_lines(["--a", "1"]) == "--a 1"
    assert shell_lines([]) == ""
