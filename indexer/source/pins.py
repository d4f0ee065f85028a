"""The pinned releases: ``sglang.pins.toml``."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from indexer._resources import data_path
from indexer.errors import CannotError, UsageError
from indexer.toml_files import read_toml

FILE_NAME = "sglang.pins.toml"
PINS_VARIABLE = "SGLANG_INDEXER_PINS"

_HEADER = """\
# The SGLang releases the site covers. `indexer pin VERSION` adds one; the hash is checked whenever
# the wheel is fetched or opened.
"""


class Pin(msgspec.Struct, frozen=True):
    """A release: its version, the wheel's file name and its sha256 in hex."""

    version: str
    artifact: str
    sha256: str


class Pins(msgspec.Struct):
    """All pins, newest first, and which of them is meant where none is named."""

    default: str
    release: list[Pin] = []

    @property
    def versions(self) -> list[str]:
        """The pinned versions, newest first."""
        return [pin.version for pin in self.release]

    def get(self, version: str) -> Pin | None:
        """Return the pin of a version, or None."""
        return next((pin for pin in self.release if pin.version == version), None)


def pins_file() -> Path:
    """Return the pins in force: ``$SGLANG_INDEXER_PINS``, the working folder's, or the shipped ones."""
    if override := os.environ.get(PINS_VARIABLE):
        return Path(override).expanduser()
    local = Path(FILE_NAME)
    return local if local.is_file() else data_path(FILE_NAME)


def load_pins(path: Path | None = None) -> Pins:
    """Read the pins.

    Raises:
        CannotError: the file can't be read.
        UsageError: it is not a pins file; the message names the bad key.
    """
    path = path or pins_file()
    pins = read_toml(path, Pins)
    if pins.get(pins.default) is None:
        raise UsageError(f"{path}: default is {pins.default!r}, which no [[release]] has")
    return pins


def save_pins(pins: Pins, path: Path) -> None:
    """Write the pins in one step, newest release first.

    Raises:
        CannotError: the file can't be written; the old one is whole.
    """
    from packaging.version import Version

    ordered = sorted(pins.release, key=lambda pin: Version(pin.version), reverse=True)
    blocks = [_HEADER + f'default = "{pins.default}"\n']
    for pin in ordered:
        blocks.append(
            f'[[release]]\nversion = "{pin.version}"\nartifact = "{pin.artifact}"\nsha256 = "{pin.sha256}"\n'
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text("\n".join(blocks), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise CannotError(
            f"{path} can't be written ({error.strerror})", "name another file with --file"
        ) from error
