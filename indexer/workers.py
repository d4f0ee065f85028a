"""What every worker process does first."""

from __future__ import annotations

import signal
import sys

_PR_SET_PDEATHSIG = 1


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
