"""Blank out GPU code that one GPU generation never loads, so that libraries pack small.

A CUDA library carries its kernels once per GPU generation inside "fat binaries". For a bundle that
goes to one kind of GPU the others are dead weight: their payload is overwritten with zeros. Nothing
moves and no header changes, so the library stays loadable; only its packed size shrinks.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CONTAINER_MAGIC = 0xBA55ED50
CONTAINER_HEADER = struct.Struct("<IHHQ")
"""Magic, version, header size, size of all entries after the header."""
ENTRY_HEADER = struct.Struct("<HHIQ")
"""Kind, version, header size, payload size; the SM number follows at ``ENTRY_SM``."""
ENTRY_SM = 28
MACHINE_CODE = 2
"""The entry kind of compiled code (the other kind is PTX, which a driver compiles at load)."""


class Entry(NamedTuple):
    """One generation's code in a fat binary: its kind, SM number and payload span."""

    kind: int
    sm: int
    start: int
    size: int


def containers(image: bytes | mmap.mmap) -> Iterator[list[Entry]]:
    """Yield the entries of every fat binary in a library image.

    A container whose entries don't add up to its stated size is not yielded: better too large
    than broken.
    """
    magic = struct.pack("<I", CONTAINER_MAGIC)
    at = image.find(magic)
    while at >= 0:
        entries, end = _entries(image, at)
        if entries:
            yield entries
        at = image.find(magic, max(end, at + len(magic)))


def _entries(image: bytes | mmap.mmap, at: int) -> tuple[list[Entry], int]:
    """Return the entries of the container at ``at`` and where it ends ([] when it is none)."""
    if at + CONTAINER_HEADER.size > len(image):
        return [], at
    _, _, header_size, body = CONTAINER_HEADER.unpack_from(image, at)
    position, end = at + header_size, at + header_size + body
    if header_size != CONTAINER_HEADER.size or end > len(image):
        return [], at
    entries = []
    while position + ENTRY_SM + 4 <= end:
        kind, _, entry_header, size = ENTRY_HEADER.unpack_from(image, position)
        (sm,) = struct.unpack_from("<I", image, position + ENTRY_SM)
        start = position + entry_header
        if entry_header < ENTRY_SM + 4 or start + size > end:
            return [], at
        entries.append(Entry(kind, sm, start, size))
        position = start + size
    return (entries, end) if position == end else ([], at)


def blank_other_generations(library: Path, sm: int) -> int:
    """Zero the code in ``library`` that a GPU of ``sm`` (90 for Hopper) never loads.

    A fat binary without machine code for exactly that SM is left alone: the driver would fall back
    to an older one or to PTX. Returns the number of bytes blanked.
    """
    if library.stat().st_size == 0:
        return 0
    blanked = 0
    with library.open("r+b") as file, mmap.mmap(file.fileno(), 0) as image:
        for entries in list(containers(image)):
            if not any(entry.kind == MACHINE_CODE and entry.sm == sm for entry in entries):
                continue
            for entry in entries:
                if entry.kind != MACHINE_CODE or entry.sm != sm:
                    image[entry.start : entry.start + entry.size] = bytes(entry.size)
                    blanked += entry.size
    return blanked
