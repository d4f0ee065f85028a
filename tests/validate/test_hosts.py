"""A bundle runs by itself, and over OpenSSH; nothing is left behind there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.errors import CannotError
from indexer.validate.bundle import write_bundle
from indexer.validate.hosts import local, ssh
from indexer.validate.launchspec import Launch, Plan

PORT = str(30000 + os.getpid() % 400 * 4)


def plan() -> Plan:
    """Return a plan of one stand-in launch and one that is refused."""
    return Plan("9.9.9", [], [Launch("good", "dense-succ", []), Launch("no", "dense-succ", ["--refuse"])])


@pytest.fixture
def fake_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: Path) -> Path:
    """Put an ``ssh`` on PATH that runs the remote command here, with temporary files in a known place."""
    there = tmp_path / "there"
    there.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    script = tools / "ssh"
    script.write_text(
        '#!/bin/sh\nwhile [ "$1" = -o ]; do shift 2; done\n'
        '[ "$1" = user@down ] && { echo "ssh: connect to host down port 22: refused" >&2; exit 255; }\n'
        f'shift\nTMPDIR={there} MODELS={models}; export TMPDIR MODELS\nexec sh -c "$*"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return there


def test_bundle_runs_by_itself(tmp_path: Path, standin: Path, models: Path) -> None:
    """run.sh makes what is missing, runs the plan and leaves results."""
    write_bundle(tmp_path / "bundle", plan())
    environment = {**os.environ, "PYTHON": sys.executable, "SGLANG": str(standin), "MODELS": str(models)}
    done = subprocess.run(
        ["sh", str(tmp_path / "bundle" / "run.sh"), "--port", PORT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = {path.stem for path in (tmp_path / "bundle" / "results").glob("*.json")}
    assert results == {"good", "no", "host"}


def test_over_ssh(tmp_path: Path, fake_ssh: Path, standin: Path) -> None:
    """Results come back and the copy on the host goes."""
    write_bundle(tmp_path / "bundle", plan())
    told: list[str] = []
    options = ["--port", PORT]
    out = tmp_path / "out"
    code = ssh.run(
        "user@host", tmp_path / "bundle", out, sys.executable, str(standin), None, options, told.append
    )
    assert code == 0
    assert {path.stem for path in out.glob("*.json")} == {"good", "no", "host"}
    assert any("2 of 2 launches done" in line for line in told)
    assert not list(fake_ssh.iterdir())


def test_failing_ssh_is_one_line(tmp_path: Path, fake_ssh: Path) -> None:
    """ssh's own words are passed on."""
    write_bundle(tmp_path / "bundle", plan())
    with pytest.raises(CannotError, match=r"user@down: ssh: connect to host down"):
        ssh.run("user@down", tmp_path / "bundle", tmp_path / "out", None, None, None, [], print)


def test_failing_run_over_ssh_leaves_nothing(tmp_path: Path, fake_ssh: Path, standin: Path) -> None:
    """A host with another SGLang is told, and cleaned."""
    other = Plan("1.2.3", [], plan().launches)
    write_bundle(tmp_path / "bundle", other)
    with pytest.raises(CannotError, match=r"the plan is for sglang 1\.2\.3"):
        ssh.run(
            "user@host",
            tmp_path / "bundle",
            tmp_path / "out",
            sys.executable,
            str(standin),
            None,
            [],
            print,
        )
    assert not list(fake_ssh.iterdir())


def test_missing_interpreter_is_told(tmp_path: Path) -> None:
    """An interpreter that is not there is one line."""
    with pytest.raises(CannotError, match="No such file"):
        local.run(tmp_path, tmp_path, tmp_path, str(tmp_path / "python"), None, [], print)
