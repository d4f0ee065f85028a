"""How many worker processes are worth starting, and what each of them does first."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cores() -> int:
    """Return how many CPUs this process may keep busy: those of the machine that it may run on, or what a
    container is allowed of them.
    """
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, _QUOTA.read_text().split())
    except (OSError, ValueError):  # no such system, or "max": as many as there are
        return known
    return max(1, min(known, -(-quota // max(period, 1))))


def end_with_parent() -> None:
    """Let this process be killed when the one that started it ends, however that ends.

    A pool's workers wait for work without end: each holds the pipe that would tell the others that nobody
    gives any. Only Linux knows this; elsewhere nothing is done.
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):  # a C library without it
        return
