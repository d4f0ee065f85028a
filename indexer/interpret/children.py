"""Work in forked children: side by side, and, for code that isn't trusted, within limits.

A child is a copy of this process: it starts in milliseconds with everything loaded. What it finds comes
back through a pipe as bytes, which the caller decodes into types of its own; nothing of a child's is
ever unpickled or run here.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.workers import cores

AVAILABLE = hasattr(os, "fork")
"""Whether this platform can fork. Where it can't, work is done in this process, without limits."""

_MOST_ANSWER_BYTES = 256 * 1024 * 1024
_PIPE_BYTES = 1 << 16
_DONE, _FAILED = b"+", b"-"


@dataclass(frozen=True)
class Limits:
    """What a child may use: seconds of CPU and of time, and bytes of address space beyond its parent's.

    A child with limits can also write no files and start no processes (the latter not as root).
    """

    cpu_seconds: int = 60
    wall_seconds: int = 900
    memory_bytes: int = 4 << 30

    def apply(self) -> None:
        """Put this process under the limits; there is no way back."""
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails with an error instead
        for kind, most in (
            (resource.RLIMIT_CPU, self.cpu_seconds),
            (resource.RLIMIT_AS, _mapped_bytes() + self.memory_bytes),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))


def _mapped_bytes() -> int:
    """Return the address space in use: a child starts with all that its parent has mapped.

    A limit below it would fail the first thread in a way that its starter waits for without end.
    """
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


class ChildStopped(Exception):
    """A child came to no answer; the text says why."""


class _Child:
    def __init__(self, work: Callable[[], bytes], limits: Limits | None) -> None:
        self.limits = limits
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            _be_a_child(work, limits, writer)
        os.close(writer)
        self.started = time.monotonic()
        self.parts: list[bytes] = []
        self.received = 0
        self.late = False

    def read(self) -> bool:
        """Take what has come; return False at the end."""
        part = os.read(self.reader, _PIPE_BYTES)
        self.parts.append(part)
        self.received += len(part)
        return bool(part) and self.received <= _MOST_ANSWER_BYTES

    def check_time(self) -> bool:
        """Return False where the child has had its time."""
        self.late = self.limits is not None and time.monotonic() - self.started > self.limits.wall_seconds
        return not self.late

    def end(self) -> bytes | ChildStopped:
        """Make sure that the child is gone and return what it said."""
        os.close(self.reader)
        if self.late or self.received > _MOST_ANSWER_BYTES:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        answer = b"".join(self.parts)
        if answer[:1] == _DONE and status == 0:
            return answer[1:]
        if answer[:1] == _FAILED:
            return ChildStopped(answer[1:].decode("utf-8", "replace"))
        return ChildStopped(self._why(status))

    def _why(self, status: int) -> str:
        limits = self.limits or Limits()
        if self.late:
            return f"it took more than {limits.wall_seconds} seconds"
        if self.received > _MOST_ANSWER_BYTES:
            return "its answer is too large"
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number in (signal.SIGXCPU, signal.SIGKILL) and self.limits is not None:
                return f"it used more than {limits.cpu_seconds} seconds of CPU or was out of memory"
            return f"it was ended by signal {number}"
        return "it ended without an answer"


def _be_a_child(work: Callable[[], bytes], limits: Limits | None, writer: int) -> None:
    """Do the work, say what came of it, and end without any of this process's leave-taking."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            if limits is not None:
                limits.apply()
            said, status = _DONE + work(), 0
        except Exception as error:
            said = _FAILED + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        with open(writer, "wb") as pipe:
            pipe.write(said)
    finally:
        os._exit(status)


def run_children(
    works: Sequence[Callable[[], bytes]], limits: Limits | None = None, most: int | None = None
) -> list[bytes | ChildStopped]:
    """Do each work in a child of its own, at most ``most`` at once (None: one a core); keep the order."""
    results: list[bytes | ChildStopped] = [ChildStopped("it was not started")] * len(works)
    waiting = list(enumerate(works))[::-1]
    running: dict[int, tuple[int, _Child]] = {}
    most = most or cores()
    try:
        while waiting or running:
            while waiting and len(running) < most:
                index, work = waiting.pop()
                child = _Child(work, limits)
                running[child.reader] = (index, child)
            ready, _, _ = select.select(list(running), [], [], 1.0)
            for reader, (index, child) in list(running.items()):
                goes_on = child.read() if reader in ready else child.check_time()
                if not goes_on:
                    del running[reader]
                    results[index] = child.end()
    finally:
        for _, child in running.values():
            child.late = True
            child.end()
    return results


def contained(work: Callable[[], Any], kind: Any, trusted: bool) -> Any:
    """Do work on interpreted code: here if it is trusted, else in a child with limits.

    ``kind`` is the type of the result as ``msgspec`` decodes it. A child without an answer gives a
    ``ChildStopped``.
    """
    if trusted or not AVAILABLE:
        return work()
    import msgspec

    [answer] = run_children([lambda: msgspec.json.encode(work())], Limits())
    return answer if isinstance(answer, ChildStopped) else msgspec.json.decode(answer, type=kind)
