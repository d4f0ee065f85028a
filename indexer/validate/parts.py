"""Pack a folder into numbered parts of a given size that can be unpacked side by side.

A part is a folder of *units*, each a tar.xz of its own: whole small files, or one slice of a large
file (``lib.so`` → ``lib.so@0003``). Units are independent, so the other side unpacks a part as soon
as it arrives, on all its cores; ``unpack.py`` joins the slices at the end.
"""

from __future__ import annotations

import io
import lzma
import os
import shutil
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from indexer.validate.extra import validate_extra

UNIT_BYTES = 48 * 2**20
"""Bytes of a unit before packing: small enough for many cores, large enough to pack well."""
SLICE_MARK = "@"
"""Stands between a sliced file's name and the slice's number."""


class Member(NamedTuple):
    """A file, or the slice of it from ``start``, under its name in the unit."""

    name: str
    path: Path
    start: int
    size: int


def plan_units(root: Path, unit_bytes: int = UNIT_BYTES) -> list[list[Member]]:
    """Group the files below ``root`` into units in a fixed order, slices of large files last.

    With the first parts there, everything but the largest libraries is there.
    """
    units: list[list[Member]] = []
    slices: list[list[Member]] = []
    open_unit: list[Member] = []
    room = unit_bytes
    for member in _members(root, unit_bytes):
        if SLICE_MARK in member.name:
            slices.append([member])
            continue
        if member.size > room and open_unit:
            units.append(open_unit)
            open_unit, room = [], unit_bytes
        open_unit.append(member)
        room -= member.size
    return [*units, *([open_unit] if open_unit else []), *slices]


def _members(root: Path, unit_bytes: int) -> Iterator[Member]:
    for path in sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
        name, size = path.relative_to(root).as_posix(), path.stat().st_size
        if size <= unit_bytes:
            yield Member(name, path, 0, size)
            continue
        for number, start in enumerate(range(0, size, unit_bytes)):
            yield Member(f"{name}{SLICE_MARK}{number:04d}", path, start, min(unit_bytes, size - start))


def pack_unit(members: list[Member], preset: int, quick: bool = False) -> tuple[str, bytes]:
    """Return one unit's file ending and bytes, the same for the same files.

    ``quick`` packs slices with Zstandard: a tenth of the time for a quarter more bytes. Whole files stay xz,
    since what reads Zstandard on the other side comes as one of them.
    """
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.size, info.mode = member.size, 0o755 if os.access(member.path, os.X_OK) else 0o644
            with member.path.open("rb") as file:
                file.seek(member.start)
                tar.addfile(info, file)
    if quick and SLICE_MARK in members[0].name:
        return "tar.zst", _zstandard().ZstdCompressor(level=9).compress(raw.getvalue())
    return "tar.xz", lzma.compress(raw.getvalue(), preset=preset)


def _zstandard() -> Any:
    with validate_extra():
        import zstandard
    return zstandard


def pack(
    root: Path, target: Path, part_bytes: int, preset: int = 6, jobs: int = 2, quick: bool = False
) -> list[Path]:
    """Pack ``root`` into ``target``/p00, p01, … of at most ``part_bytes`` each; return the parts.

    A unit goes into the first part that has room; one larger than a part gets a part of its own.
    ``target`` is replaced only when all is packed.
    """
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    room: list[int] = []
    with ThreadPoolExecutor(jobs) as pool:
        packed = pool.map(lambda members: pack_unit(members, preset, quick), plan_units(root))
        for number, (ending, unit) in enumerate(packed):
            part = next((index for index, left in enumerate(room) if len(unit) <= left), len(room))
            if part == len(room):
                room.append(part_bytes)
                (fresh / f"p{part:02d}").mkdir()
            (fresh / f"p{part:02d}" / f"u{number:04d}.{ending}").write_bytes(unit)
            room[part] -= len(unit)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return sorted(target.glob("p[0-9][0-9]"))
