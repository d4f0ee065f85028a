"""``main``: what becomes of exit codes and errors outside click's own standalone mode."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context

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


def test_a_killed_worker_is_one_line_and_a_fault_of_ours_is_traced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProcessPoolExecutor(1, get_context("fork")) as pool, pytest.raises(BrokenExecutor) as broken:
        pool.submit(os._exit, 9).result()
    as_command(monkeypatch, broken.value)
    assert exit_code(monkeypatch, "build") == 3
    told = capsys.readouterr().err
    assert (
        told.startswith("indexer: a process that did part of the work was killed") and "\n" not in told[:-1]
    )
    as_command(monkeypatch, RuntimeError("a fault of ours"))
    assert exit_code(monkeypatch, "build") == 3
    assert "RuntimeError: a fault of ours" in capsys.readouterr().err


def test_help_exits_clean(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert not exit_code(monkeypatch, "--help")
    assert "Exit codes" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", ["--help", "show --help", "show --version"])
def test_a_closed_pipe_ends_quietly_and_is_no_finding(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "indexer", *arguments.split()]
    errors = writing if arguments == "show --version" else subprocess.PIPE  # its error is a line on stderr
    ended = subprocess.run(command, stdout=writing, stderr=errors, text=True, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr or "") == (141, "")


@pytest.mark.parametrize("error", [UsageError, click.UsageError, OSError])
def test_no_error_repeats_an_absurdly_long_name(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_command(monkeypatch, error(f"there is no {'x' * 3_000}"))
    exit_code(monkeypatch, "show")
    assert len(capsys.readouterr().err) < 300
