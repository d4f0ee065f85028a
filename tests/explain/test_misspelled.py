"""A question with a slip in it is one line that says what was meant."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from indexer.cli import cli
from indexer.errors import UsageError

pytestmark = pytest.mark.release
NEXT = "Qwen3NextForCausalLM"


@pytest.mark.parametrize("command", ["explain", "report"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--arch", "Qwen3NextForCausalLN", "--gpu", "H200"], f"did you mean {NEXT}?"),
        (["--arch", "Qwen3NextForCausal", "--gpu", "H200"], f"did you mean {NEXT}"),
        (["--arch", NEXT, "--gpu", "H20O"], "did you mean H20"),
        (["--arch", NEXT, "--gpu", "cpu", "--gpus", "2"], "--gpu cpu and --gpus"),
        (["--arch", NEXT, "--model", "."], "--model and --arch both say"),
    ],
)
def test_a_slip_is_one_line(release_tree, command: str, given: list[str], said: str) -> None:
    release_tree("0.5.9")
    words = ["--", "--tp-size", "2"] if command == "explain" else []
    result = CliRunner().invoke(cli, [command, "--version", "0.5.9", *given, *words])
    assert isinstance(result.exception, UsageError), result.exception
    assert said in str(result.exception) and "\n" not in str(result.exception)
    assert result.exception.exit_code == 2


def test_versions_in_the_wrong_order_are_told() -> None:
    result = CliRunner().invoke(cli, ["explain", "--versions", "0.5.20..0.5.9", "--", "--tp-size", "2"])
    assert isinstance(result.exception, UsageError) and "write 0.5.9..0.5.20" in str(result.exception)
