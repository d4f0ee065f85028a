"""No worker outlives the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexer import workers

_POOL = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from indexer.workers import end_with_parent

with ProcessPoolExecutor(2, get_context("fork"), initializer=end_with_parent) as pool:
    list(pool.map(time.sleep, [0.2, 0.2]))
    print(*{*pool._processes}, flush=True)
    time.sleep(60)
"""


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_workers_of_a_killed_process_end() -> None:
    with subprocess.Popen([sys.executable, "-c", _POOL], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(_runs, workers))
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(map(_runs, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_runs, workers))


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000\n", 8),
        ("200000 100000\n", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("9999999 1000", 8),
    ],
)
def test_a_container_has_the_cores_it_is_allowed(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(workers, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert workers.cores() == expected


def test_without_control_groups_the_machine_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_QUOTA", tmp_path / "none")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert workers.cores() == 3
