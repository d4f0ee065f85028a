"""Running interpreted code on a stack deep enough for it, and reading where it stopped."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from indexer.interpret.compiled import MARK
from indexer.source.tree import PACKAGE_ROOT

Result = TypeVar("Result")

STACK_BYTES = 256 * 1024 * 1024
RECURSION_LIMIT = 12_000


def run_with_deep_stack(work: Callable[[], Result]) -> Result:
    """Run ``work`` in a thread with a large stack and a raised recursion limit; pass its errors on."""
    outcome: list[Any] = []

    def target() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:
            outcome.append((False, error))

    before_limit, before_size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(max(before_limit, RECURSION_LIMIT))
    try:
        thread = threading.Thread(target=target, name="interpreter")
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before_size)
        sys.setrecursionlimit(before_limit)
    succeeded, value = outcome[0]
    if succeeded:
        return value
    raise value


def innermost_frame(error: BaseException) -> tuple[str, int, str] | None:
    """Return (path, line, function) of SGLang's innermost frame that an error passed through.

    Frames of the configuration classes' package count only where SGLang has none.
    """
    found = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename[:1] == MARK:
            path = code.co_filename[1:]
            if found is None or path.startswith(PACKAGE_ROOT) or not found[0].startswith(PACKAGE_ROOT):
                found = (path, trace.tb_lineno, code.co_qualname)
        trace = trace.tb_next
    return found


def innermost_line(error: BaseException) -> str:
    """Return `` at path:line`` of where interpreted code stopped, for a message; empty if nowhere."""
    frame = innermost_frame(error)
    return f" at {frame[0]}:{frame[1]}" if frame else ""
