"""Blanking GPU code, trimming, cutting into parts and joining them again."""

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.errors import UsageError
from indexer.validate import fatbins, parts, unpack, wheels


def fatbin(*entries: tuple[int, int, bytes]) -> bytes:
    """Build a fat binary of ``(kind, sm, payload)`` entries."""
    body = b""
    for kind, sm, payload in entries:
        header = fatbins.ENTRY_HEADER.pack(kind, 0, 64, len(payload)) + bytes(12) + struct.pack("<I", sm)
        body += header.ljust(64, b"\0") + payload
    return fatbins.CONTAINER_HEADER.pack(fatbins.CONTAINER_MAGIC, 1, 16, len(body)) + body


def test_other_generations_are_blanked(tmp_path: Path) -> None:
    """Only the wanted SM's code stays; a container without it, and stray magic, stay whole."""
    stray = struct.pack("<I", fatbins.CONTAINER_MAGIC) + b"stray"
    only_old = fatbin((2, 80, b"old" * 10))
    library = tmp_path / "lib.so"
    both = fatbin((2, 80, b"A" * 40), (1, 90, b"P" * 8), (2, 90, b"B" * 24))
    library.write_bytes(b"elf" + stray + both + only_old)
    assert fatbins.blank_other_generations(library, 90) == 48
    data = library.read_bytes()
    assert len(data) == len(b"elf" + stray + both + only_old)
    assert b"B" * 24 in data and b"old" * 10 in data and stray in data
    assert b"A" * 4 not in data and b"P" * 4 not in data
    assert fatbins.blank_other_generations(library, 75) == 0


def test_empty_file_is_left_alone(tmp_path: Path) -> None:
    """An empty file can't be mapped and needs nothing."""
    (tmp_path / "empty.so").touch()
    assert fatbins.blank_other_generations(tmp_path / "empty.so", 90) == 0


def tree(root: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize("quick", [False, True])
def test_parts_come_back_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool) -> None:
    """Small files, a sliced file and modes survive; no part is larger than asked; order is fixed."""
    site = tmp_path / "site"
    (site / "a" / "b").mkdir(parents=True)
    noise = random.Random(1)
    (site / "a" / "large.so").write_bytes(noise.randbytes(4321))
    for number in range(7):
        (site / "a" / "b" / f"{number}.py").write_bytes(noise.randbytes(300))
    (site / "tool").write_text("#!/bin/sh\n")
    (site / "tool").chmod(0o755)
    monkeypatch.setattr(parts.plan_units, "__defaults__", (1000,))
    made = parts.pack(site, tmp_path / "parts", 2500, quick=quick)
    assert len(made) > 2
    assert all(sum(f.stat().st_size for f in part.iterdir()) <= 2500 for part in made)
    endings = {file.suffix for part in made for file in part.iterdir()}
    assert endings == ({".xz", ".zst"} if quick else {".xz"})
    target = tmp_path / "target"
    for part in reversed(made):
        unpack.add(str(target), [str(part)])
    unpack.join(str(target))
    assert tree(target) == tree(site)
    assert (target / "tool").stat().st_mode & 0o111
    again = parts.pack(site, tmp_path / "again", 2500, quick=quick)
    assert [tree(part) for part in again] == [tree(part) for part in made]


def test_missing_slice_is_an_error(tmp_path: Path) -> None:
    """A file is never joined short."""
    (tmp_path / "lib.so@0000").write_bytes(b"a")
    (tmp_path / "lib.so@0002").write_bytes(b"c")
    done = subprocess.run(
        [sys.executable, str(unpack.__file__), "join", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 1 and "missing" in done.stderr
    assert not (tmp_path / "lib.so").exists()


def test_wheel_list(tmp_path: Path) -> None:
    """Pins and dropped paths are told apart; anything else is named with its line."""
    file = tmp_path / "list.txt"
    file.write_text("# comment\nsglang==0.5.17\ndrop sgl_kernel/sm100/*\n\n")
    assert wheels.read_list(file) == wheels.WheelList(["sglang==0.5.17"], ["sgl_kernel/sm100/*"])
    file.write_text("sglang>=1\n")
    with pytest.raises(UsageError, match=r"list\.txt:1"):
        wheels.read_list(file)


def test_shipped_wheel_lists_are_readable() -> None:
    """The lists that the committed runs used parse, and pin SGLang."""
    folder = Path(__file__).parents[2] / "evidence" / "bundles"
    lists = [wheels.read_list(path) for path in sorted(folder.glob("*.txt"))]
    assert lists and all(any(pin.startswith("sglang==") for pin in found.pins) for found in lists)


def test_trim_drops_and_counts(tmp_path: Path) -> None:
    """Dropped paths go; what stays is untouched."""
    (tmp_path / "pkg" / "test").mkdir(parents=True)
    (tmp_path / "pkg" / "test" / "x.py").write_text("1234")
    (tmp_path / "pkg" / "y.py").write_text("5")
    assert wheels.trim(tmp_path, ["pkg/test/*"], None).dropped == 4
    assert tree(tmp_path) == {"pkg/y.py": b"5"}
