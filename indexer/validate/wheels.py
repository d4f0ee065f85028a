"""Turn a list of pinned wheels into one import-ready folder, without what a given GPU never opens."""

from __future__ import annotations

import fnmatch
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from indexer.errors import CannotError, UsageError
from indexer.validate.fatbins import blank_other_generations

GLIBC_MINORS = range(39, 4, -1)
"""pip matches ``manylinux_2_N`` exactly, so each N that a recent host takes is named."""
SITECUSTOMIZE = "import os, site\nsite.addsitedir(os.path.dirname(os.path.abspath(__file__)))\n"
STRIP_ABOVE = 4 * 2**20
"""Libraries above this many bytes lose their debug symbols."""


class WheelList(NamedTuple):
    """A bundle's wheel file: ``NAME==VERSION`` lines, and ``drop PATTERN`` lines for paths left out."""

    pins: list[str]
    drop: list[str]


class Trimmed(NamedTuple):
    """What trimming saved, in bytes: files dropped, GPU code blanked, debug symbols stripped."""

    dropped: int
    blanked: int
    stripped: int


def read_list(path: Path) -> WheelList:
    """Read a wheel file; ``#`` starts a comment.

    Raises:
        UsageError: a line is neither a pin nor a ``drop`` line.
    """
    pins, drop = [], []
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line.startswith("drop "):
            drop.append(line.removeprefix("drop ").strip())
        elif "==" in line:
            pins.append(line)
        elif line:
            raise UsageError(f"{path.name}:{number}: neither NAME==VERSION nor 'drop PATTERN': {line!r}")
    return WheelList(pins, drop)


def _target(python: str) -> list[str]:
    tag = "cp" + python.replace(".", "")
    options = ["--no-deps", "--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    for abi in (tag, "abi3", "none"):
        options += ["--abi", abi]
    for minor in GLIBC_MINORS:
        options += ["--platform", f"manylinux_2_{minor}_x86_64"]
    for name in ("manylinux2014", "manylinux2010", "manylinux1"):
        options += ["--platform", f"{name}_x86_64"]
    return options


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise CannotError(
            f"pip: {reasons[-1] if reasons else 'failed'}", "check the wheel list and the package index"
        )


def fetch(pins: list[str], folder: Path, python: str, find_links: list[Path]) -> list[Path]:
    """Download the pinned wheels for CPython ``python`` on x86-64 Linux; return all wheels there.

    Raises:
        CannotError: pip could not get one of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    links = [option for link in find_links for option in ("--find-links", str(link))]
    _pip("download", *_target(python), *links, "-d", str(folder), *pins)
    return sorted(folder.glob("*.whl"))


def unpack(wheels: list[Path], site: Path, python: str) -> None:
    """Install the wheels, and nothing else, into the fresh folder ``site``.

    A folder on PYTHONPATH gets no ``.pth`` files read, and some wheels need theirs: a
    ``sitecustomize`` module in it sees to that.
    """
    shutil.rmtree(site, ignore_errors=True)
    _pip("install", "--no-index", "--no-compile", *_target(python), "--target", str(site), *map(str, wheels))
    (site / "sitecustomize.py").write_text(SITECUSTOMIZE, "utf-8")


def trim(site: Path, drop: list[str], sm: int | None) -> Trimmed:
    """Leave out dropped paths, code for other GPU generations than ``sm``, and debug symbols."""
    dropped = blanked = stripped = 0
    for path in [p for p in site.rglob("*") if p.is_file()]:
        name, size = path.relative_to(site).as_posix(), path.stat().st_size
        if any(fnmatch.fnmatch(name, pattern) for pattern in drop):
            dropped += size
            path.unlink()
        elif ".so" in path.suffixes and not path.is_symlink():
            if sm is not None:
                blanked += blank_other_generations(path, sm)
            if size > STRIP_ABOVE:
                # A library that strip can't read stays as it is.
                subprocess.run(["strip", "--strip-debug", str(path)], capture_output=True, check=False)
                stripped += size - path.stat().st_size
    return Trimmed(dropped, blanked, stripped)
