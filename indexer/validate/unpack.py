#!/usr/bin/env python3
"""Unpack a bundle's parts on the machine they were brought to (standard library only).

    unpack.py add TARGET PART…      unpack parts as they arrive, on all cores
    unpack.py join TARGET [NAME…]   join sliced files (those named) once all their slices are there

Slices may be packed with Zstandard instead of xz; the part that brings Python's ``zstandard`` into
TARGET must then come no later than they do.
"""

import contextlib
import multiprocessing
import os
import re
import sys
import tarfile
import time

SLICE = re.compile(r"^(.*)@(\d{4})$")


@contextlib.contextmanager
def opened(unit, target):
    """Open a unit as a tar stream."""
    if not unit.endswith(".zst"):
        with tarfile.open(unit, "r|xz") as tar:
            yield tar
        return
    sys.path.insert(0, target)
    import zstandard

    with (
        open(unit, "rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        yield tar


def extract(job):
    """Unpack one unit into the target folder."""
    unit, target = job
    with opened(unit, target) as tar:
        for member in tar:
            # tarfile itself minds when another process makes the same folder meanwhile.
            os.makedirs(os.path.join(target, os.path.dirname(member.name)), exist_ok=True)
            tar.extract(member, target, filter="data")
    return os.path.getsize(unit)


def add(target, parts):
    """Unpack every unit of the given parts side by side; xz first, which needs nothing."""
    os.makedirs(target, exist_ok=True)
    units = [os.path.join(part, name) for part in parts for name in sorted(os.listdir(part))]
    done = 0
    for ending in (".tar.xz", ".tar.zst"):
        jobs = [(unit, target) for unit in units if unit.endswith(ending)]
        if jobs:
            with multiprocessing.Pool(min(len(jobs), os.cpu_count() or 1)) as pool:
                done += sum(pool.map(extract, jobs, chunksize=1))
    return done


def join(target, names=()):
    """Put sliced files together; a missing slice is an error, not a short file."""
    slices = {}
    for folder, _, found in os.walk(target):
        for name in found:
            match = SLICE.match(name)
            if match and (not names or os.path.basename(match.group(1)) in names):
                whole = os.path.join(folder, match.group(1))
                slices.setdefault(whole, []).append((int(match.group(2)), os.path.join(folder, name)))
    for whole, pieces in sorted(slices.items()):
        pieces.sort()
        if [number for number, _ in pieces] != list(range(len(pieces))):
            sys.exit(f"unpack: a slice of {os.path.basename(whole)} is missing: is a part not here yet?")
        mode = os.stat(pieces[0][1]).st_mode
        with open(whole + ".joining", "wb") as out:
            for _, piece in pieces:
                with open(piece, "rb") as data:
                    while chunk := data.read(1 << 24):
                        out.write(chunk)
                os.remove(piece)
        os.chmod(whole + ".joining", mode)
        os.replace(whole + ".joining", whole)
    return len(slices)


def main(argv):
    start = time.time()
    if len(argv) >= 3 and argv[0] == "add":
        print(f"unpacked {add(argv[1], argv[2:]) / 1e6:.1f} MB in {time.time() - start:.1f} s")
    elif len(argv) >= 2 and argv[0] == "join":
        print(f"joined {join(argv[1], argv[2:])} files in {time.time() - start:.1f} s")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
