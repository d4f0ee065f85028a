"""A wheel that was opened before is opened from what is remembered of it, while it stays the same."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from indexer.source.wheel_index import read_index
from indexer.source.wheels import WheelTree, fetch_wheel, file_sha256
from tests.source.test_wheels import METADATA, cache, make_wheel

__all__ = ["cache"]


def test_a_remembered_wheel_is_not_opened(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(cache)
    first = WheelTree(wheel, "9.9")
    monkeypatch.setattr(zipfile, "ZipFile", lambda *args: pytest.fail("opened"))
    again = WheelTree(fetch_wheel("sglang", "9.9", sha256=first.sha256), "9.9")
    assert again.paths() == first.paths()
    assert again.metadata() == METADATA
    assert again.sha256 == file_sha256(wheel)


def test_a_changed_wheel_is_read_anew(cache: Path) -> None:
    wheel = make_wheel(cache)
    assert "python/sglang/new.py" not in WheelTree(wheel, "9.9").paths()
    make_wheel(cache, extra={"sglang/new.py": ""})
    assert read_index(wheel) is None
    assert "python/sglang/new.py" in WheelTree(wheel, "9.9").paths()


def test_an_old_date_does_not_hide_a_change(cache: Path) -> None:
    wheel = make_wheel(cache)
    WheelTree(wheel, "9.9")
    seen = wheel.stat()
    wheel.write_bytes(wheel.read_bytes()[::-1])
    os.utime(wheel, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert read_index(wheel) is None


def test_a_damaged_index_is_made_again(cache: Path) -> None:
    wheel = make_wheel(cache)
    WheelTree(wheel, "9.9")
    [file] = (cache.parent / "wheel-index").iterdir()
    file.write_bytes(b"{")
    assert WheelTree(wheel, "9.9").paths()
    assert read_index(wheel) is not None
