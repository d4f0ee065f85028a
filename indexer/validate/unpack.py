#!/usr/bin/env python3
"""Unpack a bundle's parts on the machine they were brought to (standard library only).

unpack.py add TARGET PART...    unpack parts as they arrive, on all cores
unpack.py join TARGET           join sliced files once every part is there
"""

import multiprocessing
import os
import re
import sys
import tarfile
import time

SLICE = re.compile(r"^(.*)@(\d{4})$")


def extract(job):
    """Unpack one unit into the target folder."""
    unit, target = job
    with tarfile.open(unit, "r:xz") as tar:
        tar.extractall(target, filter="data")
    return os.path.getsize(unit)


def add(target, parts):
    """Unpack every unit of the given parts side by side."""
    os.makedirs(target, exist_ok=True)
    jobs = [
        (os.path.join(part, name), target)
        for part in parts
        for name in sorted(os.listdir(part))
        if name.endswith(".tar.xz")
    ]
    with multiprocessing.Pool(max(1, min(len(jobs), os.cpu_count() or 1))) as pool:
        return sum(pool.map(extract, jobs, chunksize=1))


def join(target):
    """Put sliced files together; a missing slice is an error, not a short file."""
    slices = {}
    for folder, _, names in os.walk(target):
        for name in names:
            match = SLICE.match(name)
            if match:
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
    elif len(argv) == 2 and argv[0] == "join":
        print(f"joined {join(argv[1])} files in {time.time() - start:.1f} s")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
