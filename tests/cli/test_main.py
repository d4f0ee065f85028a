"""``main``: what becomes of exit codes and errors outside click's own standalone mode."""

from __future__ import annotations

import sys

import click
import pytest

from indexer import cli
from indexer.errors import UsageError


def exit_code(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["indexer", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return caught.value.code


def as_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    @click.command()
    def command() -> None:
        raise error

    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda *_: command)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (click.exceptions.Exit(1), 1),
        (SystemExit(1), 1),
        (UsageError("no"), 2),
        (click.UsageError("no"), 2),
        (KeyboardInterrupt(), 130),
        (OSError(28, "No space left on device"), 3),
        (RuntimeError("a fault of ours"), 3),
    ],
)
def test_the_exit_code_of_a_command_is_the_processes(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    as_command(monkeypatch, error)
    assert exit_code(monkeypatch, "show") == code


def test_help_exits_clean(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert not exit_code(monkeypatch, "--help")
    assert "Exit codes" in capsys.readouterr().out
