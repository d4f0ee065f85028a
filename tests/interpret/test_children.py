"""Children do their work side by side, and within limits where the code isn't trusted."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from indexer.interpret import children
from indexer.interpret.children import ChildStopped, Limits, run_children

pytestmark = pytest.mark.skipif(not children.AVAILABLE, reason="this platform can't fork")

SHORT = Limits(cpu_seconds=1, wall_seconds=20, memory_bytes=1 << 30)


def loop() -> bytes:
    while True:
        pass


def allocate() -> bytes:
    return bytes(10**12)


def write_here(folder: Path) -> bytes:
    (folder / "written").write_bytes(b"x" * 10)
    return b"written"


def test_answers_keep_their_order() -> None:
    def late(index: int) -> bytes:
        time.sleep(0.05 * (3 - index))
        return str(index).encode()

    works = [lambda index=index: late(index) for index in range(4)]
    assert run_children(works, most=4) == [b"0", b"1", b"2", b"3"]


def test_a_large_answer_comes_whole() -> None:
    assert run_children([lambda: b"x" * 5_000_000]) == [b"x" * 5_000_000]


def test_an_error_is_told() -> None:
    def fails() -> bytes:
        raise ValueError("so it is")

    [answer] = run_children([fails])
    assert str(answer) == "ValueError: so it is"


def test_a_child_that_dies_is_told() -> None:
    [answer, other] = run_children([lambda: os._exit(3), lambda: b"fine"])
    assert isinstance(answer, ChildStopped)
    assert other == b"fine"


def test_endless_work_ends() -> None:
    [answer] = run_children([loop], SHORT)
    assert "seconds of CPU" in str(answer)


def test_work_that_waits_ends() -> None:
    [answer] = run_children([lambda: time.sleep(60) or b""], Limits(wall_seconds=1))
    assert str(answer) == "it took more than 1 seconds"


def test_memory_is_bounded() -> None:
    [answer] = run_children([allocate], SHORT)
    assert "MemoryError" in str(answer)


def test_no_file_is_written(tmp_path: Path) -> None:
    [answer] = run_children([lambda: write_here(tmp_path)], SHORT)
    assert isinstance(answer, ChildStopped)
    assert (tmp_path / "written").read_bytes() == b""
