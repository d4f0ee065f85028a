"""The ``history`` and ``drift`` commands that the README shows print what it shows."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.cli import cli

README = Path(__file__).resolve().parent.parent / "README.md"
SERVE = """\
export SGLANG_CUTLASS_MOE=1
python -m sglang.launch_server --model-path m \\
  --speculative-algo EAGLE --mamba-scheduler-strategy extra_buffer \\
  --cuda-graph-max-bs 32
"""


def examples() -> list[tuple[str, str]]:
    """Return the README's examples: the command after ``$ indexer`` and the output below it."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in README.read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ indexer "):
            found.append((line.removeprefix("    $ indexer "), []))
            inside = True
        elif inside and (line.startswith("    ") or not line):
            found[-1][1].append(line.removeprefix("    "))
        else:
            inside = False
    checked = [one for one in found if one[0].split()[0] in ("history", "drift")]
    return [(command, "\n".join(output).strip() + "\n") for command, output in checked]


@pytest.mark.parametrize(("command", "output"), examples(), ids=[command for command, _ in examples()])
def test_example(command: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "serve.sh").write_text(SERVE)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, shlex.split(command), catch_exceptions=False)
    assert without_words(result.output) == without_words(output)


def without_words(output: str) -> str:
    """Return an output without the words of a message: they are SGLang's, and not in every cache."""
    lines = [line for line in output.splitlines() if not line.startswith(("  says ", "No release that says"))]
    return "\n".join(lines).strip()


def test_there_are_examples() -> None:
    assert len(examples()) >= 2
