"""The probe's process handling, on real processes: a stand-in server speaks the endpoints."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from indexer.validate import probe

PROBE = Path(probe.__file__)
PORT = 34000 + os.getpid() % 500 * 40


def plan_file(folder: Path, *launches: dict[str, Any], version: str = "9.9.9") -> Path:
    """Write a plan of stand-in launches."""
    planned = [{"model": "dense-succ", "flags": [], **launch} for launch in launches]
    path = folder / "plan.json"
    path.write_text(json.dumps({"version": version, "base": ["--base", "1"], "launches": planned}))
    return path


def command(plan: Path, models: Path, out: Path, *options: str) -> list[str]:
    """Return the probe's command line."""
    words = [sys.executable, str(PROBE), "run", "--plan", str(plan), "--models", str(models)]
    return [*words, "--out", str(out), "--port", str(PORT), *options]


def environment(standin: Path, mark: str, **more: str) -> dict[str, str]:
    """Return an environment in which ``sglang`` is the stand-in; ``mark`` finds its processes."""
    return {**os.environ, "PYTHONPATH": str(standin), "PROBE_TEST_MARK": mark, **more}


def marked(mark: str) -> list[int]:
    """Return the living processes whose environment carries ``mark``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                alive = b"Z (zombie)" not in (entry / "status").read_bytes()
                if alive and f"PROBE_TEST_MARK={mark}".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def gone(mark: str, seconds: float = 15) -> bool:
    """Wait until no process carries ``mark``."""
    end = time.time() + seconds
    while marked(mark) and time.time() < end:
        time.sleep(0.1)
    return not marked(mark)


def started(path: Path, seconds: float = 30) -> bool:
    """Wait until a server's log is there."""
    end = time.time() + seconds
    while not path.exists() and time.time() < end:
        time.sleep(0.05)
    return path.exists()


def result(out: Path, name: str) -> dict[str, Any]:
    """Read one raw result."""
    return json.loads((out / f"{name}.json").read_bytes())


def test_outcomes_of_a_wave(tmp_path: Path, models: Path, standin: Path) -> None:
    """Served, refused, hung, died, garbage: each gets its record, and nothing is left running."""
    out, mark = tmp_path / "out", f"wave-{os.getpid()}"
    plan = plan_file(
        tmp_path,
        {"id": "good"},
        {"id": "refused", "flags": ["--refuse"]},
        {"id": "hung", "flags": ["--hang"], "timeout": 2},
        {"id": "died", "flags": ["--die-on-request"]},
        {"id": "garbage", "flags": ["--garbage"]},
    )
    done = subprocess.run(
        command(plan, models, out, "--width", "5", "--stagger", "0"),
        env=environment(standin, mark),
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = {name: result(out, name)["outcome"] for name in ("good", "refused", "hung", "died", "garbage")}
    assert outcomes == {
        "good": "served",
        "refused": "exited",
        "hung": "hung",
        "died": "died",
        "garbage": "broke",
    }
    good = result(out, "good")
    assert good["requests"]["short"]["successors"] == probe.NEW_TOKENS
    assert good["left"] == 0
    assert "{models}/dense-succ" in good["command"]
    assert result(out, "refused")["log"]["error"] == "ValueError: the stand-in refuses this combination"
    assert "not json" in result(out, "garbage")["broke"]
    assert gone(mark)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_killed_runner_leaves_nothing_and_resumes(
    how: signal.Signals, tmp_path: Path, models: Path, standin: Path
) -> None:
    """The runner dies in the middle of a wave: no orphan, finished results kept, the rest resumed."""
    out, mark = tmp_path / "out", f"killed-{how}-{os.getpid()}"
    plan = plan_file(tmp_path, {"id": "first"}, {"id": "slow", "flags": ["--hang"], "timeout": 60})
    runner = subprocess.Popen(
        command(plan, models, out, "--width", "2"),
        env=environment(standin, mark),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert started(out / "first.json") and started(out / "slow.log")
        time.sleep(0.5)
        assert len(marked(mark)) >= 3
        runner.send_signal(how)
        runner.wait(40)
        assert gone(mark)
    finally:
        runner.kill()
    assert result(out, "first")["outcome"] == "served"
    assert not (out / "slow.json").exists()
    before = (out / "first.json").read_bytes()
    plan_file(tmp_path, {"id": "first"}, {"id": "slow"})
    again = subprocess.run(
        command(plan, models, out), env=environment(standin, mark), capture_output=True, timeout=60
    )
    assert again.returncode == 0
    assert (out / "first.json").read_bytes() == before
    assert result(out, "slow")["outcome"] == "served"


def test_killed_guard_ends_its_server(tmp_path: Path, standin: Path, models: Path) -> None:
    """Somebody kills the guard: the kernel and the runner end the server."""
    mark = f"guard-{os.getpid()}"
    log = tmp_path / "log"
    server = probe.Server(
        [sys.executable, "-c", "import time; time.sleep(600)"], str(log), environment(standin, mark)
    )
    assert server.running() and server.group
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(10)
    assert server.stop()["exit"] is None
    assert gone(mark)


def test_full_disk_keeps_what_is_finished(tmp_path: Path, models: Path, standin: Path) -> None:
    """A result that can't be written ends the run with code 3; earlier results stay."""
    out, mark = tmp_path / "out", f"disk-{os.getpid()}"
    (out / "second.json.part").mkdir(parents=True)
    plan = plan_file(tmp_path, {"id": "first"}, {"id": "second"}, {"id": "third"})
    done = subprocess.run(
        command(plan, models, out, "--width", "1"),
        env=environment(standin, mark),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3
    assert "second" in done.stderr
    assert result(out, "first")["outcome"] == "served"
    assert not (out / "third.json").exists()
    assert gone(mark)


def test_deadline_ends_the_run(tmp_path: Path, models: Path, standin: Path) -> None:
    """Past the deadline servers are ended and their launches stay to be done."""
    out, mark = tmp_path / "out", f"deadline-{os.getpid()}"
    plan = plan_file(tmp_path, {"id": "slow", "flags": ["--hang"], "timeout": 60})
    done = subprocess.run(
        command(plan, models, out, "--deadline", "4", "--least", "0"),
        env=environment(standin, mark),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert not (out / "slow.json").exists()
    assert gone(mark)


def test_taken_port_is_passed_over(tmp_path: Path, models: Path, standin: Path) -> None:
    """A port that somebody listens on is not used, and its owner is left alone."""
    out = tmp_path / "out"
    with socket.create_server(("127.0.0.1", PORT)):
        done = subprocess.run(
            command(plan_file(tmp_path, {"id": "one"}), models, out),
            env=environment(standin, "port"),
            capture_output=True,
            timeout=60,
        )
    assert done.returncode == 0
    assert str(PORT) not in result(out, "one")["command"]


def test_wrong_hosts_are_told_in_one_line(tmp_path: Path, models: Path, standin: Path) -> None:
    """No GPU, another SGLang, no SGLang: one line each, no traceback."""
    out = tmp_path / "out"
    for version, more, said in (
        ("9.9.9", {"STANDIN_GPUS": "0"}, "no GPU here"),
        ("1.2.3", {}, "the plan is for sglang 1.2.3, here is 9.9.9"),
        ("9.9.9", {"PYTHONPATH": ""}, "can't tell its versions"),
    ):
        env = environment(standin, "wrong") | more
        done = subprocess.run(
            command(plan_file(tmp_path, {"id": "one"}, version=version), models, out),
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if "PYTHONPATH" in more and done.returncode == 0:
            continue
        assert done.returncode == 1
        assert said in done.stderr or "here is none" in done.stderr or "no GPU" in done.stderr
        assert "Traceback" not in done.stderr


def test_log_reading(tmp_path: Path) -> None:
    """The last error and its innermost frame inside sglang decide; usage errors count; paths go."""
    log = tmp_path / "log"
    log.write_text(
        "[2026-01-01] WARNING: overlap is disabled because of x\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/e/lib/python3.12/site-packages/sglang/srt/server_args.py", line 7, in check\n'
        "    raise ValueError(x)\n"
        "ValueError: topk must be 1\n"
    )
    told = probe.read_log(str(log), probe.Scrub({}))
    assert told["error"] == "ValueError: topk must be 1"
    assert told["where"] == "sglang/srt/server_args.py:7:check"
    assert told["telling"] == ["WARNING: overlap is disabled because of x"]
    assert "/opt/" not in json.dumps(told)
    log.write_text("usage: x\nsglang serve: error: argument --a: invalid choice: 'b' (choose from 'c')\n")
    assert probe.read_log(str(log), probe.Scrub({}))["error"].startswith("argument --a: invalid choice")
