from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from indexer.errors import CannotError, UsageError
from indexer.source import pip


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """What pip will say, call by call; the last answer is repeated."""
    said: list[tuple[int, str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        status, output = said.pop(0) if len(said) > 1 else said[0]
        return subprocess.CompletedProcess(command, status, output, "")

    monkeypatch.setattr(subprocess, "run", run)
    return said


def test_network_failure(answers: list[tuple[int, str]], tmp_path: Path) -> None:
    answers.append(
        (1, "WARNING: Retrying after connection broken by 'NewConnectionError'\nERROR: (from versions: none)")
    )
    with pytest.raises(CannotError, match="can't be reached; check the network"):
        pip.download("sglang", "0.5.23", tmp_path)


def test_nothing_offered_at_all(answers: list[tuple[int, str]], tmp_path: Path) -> None:
    answers.append((1, "ERROR: Could not find a version (from versions: none)\nERROR: No matching"))
    with pytest.raises(CannotError, match="can't be reached, or has no sglang; check the network"):
        pip.download("sglang", "0.5.23", tmp_path)


def test_unknown_release(answers: list[tuple[int, str]], tmp_path: Path) -> None:
    answers.append((1, "ERROR: Could not find a version (from versions: 0.5.1, 0.5.2)\nERROR: No matching"))
    with pytest.raises(UsageError, match=r"no release 0\.9 .*newest: 0\.5\.1, 0\.5\.2"):
        pip.download("sglang", "0.9", tmp_path)


def test_newest_is_told_from_what_every_python_is_offered(
    answers: list[tuple[int, str]], tmp_path: Path
) -> None:
    answers.append((1, "ERROR: Could not find a version (from versions: 0.5.9, 0.5.10)"))
    answers.append((1, "ERROR: Could not find a version (from versions: 0.5.2, 0.5.9)"))
    with pytest.raises(UsageError, match=r"newest: 0\.5\.2, 0\.5\.9, 0\.5\.10$"):
        pip.download("sglang", "0.9", tmp_path)


def test_full_disk(answers: list[tuple[int, str]], tmp_path: Path) -> None:
    answers.append((2, "ERROR: Could not install: [Errno 28] No space left on device"))
    with pytest.raises(CannotError, match="the disk is full"):
        pip.download("sglang", "0.5.23", tmp_path)


def test_anything_else_passes_pips_words_on(answers: list[tuple[int, str]], tmp_path: Path) -> None:
    answers.append((1, "ERROR: something odd"))
    with pytest.raises(CannotError, match=r"\(something odd\); try yourself: pip download"):
        pip.download("sglang", "0.5.23", tmp_path)


def test_released_versions_are_sorted_as_versions(answers: list[tuple[int, str]]) -> None:
    answers.append((0, "sglang (0.5.10)\nAvailable versions: 0.5.10, 0.5.9.post1, 0.5.9, bad!\n"))
    assert pip.released_versions("sglang") == ["0.5.9", "0.5.9.post1", "0.5.10"]


def test_no_pip_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    pip.pip_command.cache_clear()
    try:
        with pytest.raises(CannotError, match="pip was found neither in this Python nor on PATH"):
            pip.pip_command()
    finally:
        pip.pip_command.cache_clear()
