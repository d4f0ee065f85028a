"""Snapshots as files: deterministic JSON, a checked schema version, atomic writes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

from indexer.collector import collector_postponed
from indexer.errors import CannotError, UsageError
from indexer.knowledge.schema import SCHEMA_VERSION, Snapshot


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return the snapshot's bytes: the same snapshot gives the same bytes."""
    # Sorted: an unknown value comes back as a mapping, whose keys must not depend on where it has been.
    return msgspec.json.encode(snapshot, order="sorted") + b"\n"


def decode_snapshot(raw: bytes, source: str) -> Snapshot:
    """Return the snapshot held by ``raw``; ``source`` names it in errors.

    Raises:
        UsageError: not a snapshot, or one of another schema version.
    """
    try:
        schema = msgspec.json.decode(raw, type=_Header).schema
        if schema != SCHEMA_VERSION:
            raise UsageError(
                f"{source}: snapshot schema {schema}, this program reads {SCHEMA_VERSION}",
                "make the snapshot again with `indexer snapshot`",
            )
        with collector_postponed():
            return msgspec.json.decode(raw, type=Snapshot)
    except msgspec.MsgspecError as error:
        raise UsageError(f"{source}: not a snapshot ({error})") from error


def load_snapshot(path: Path) -> Snapshot:
    """Read a snapshot file.

    Raises:
        CannotError: the file can't be read.
        UsageError: it is not a snapshot of this schema version.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CannotError(f"{path}: {error.strerror}") from error
    return decode_snapshot(raw, str(path))


def save_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot file; a reader sees the old file or the whole new one."""
    write_atomically(path, encode_snapshot(snapshot))


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` beside ``path`` and move it into place.

    A link is followed, and what is no file (a device, a pipe) is written to, not replaced.

    Raises:
        CannotError: the folder can't be written.
    """
    try:
        if path.is_symlink():
            path = path.resolve()
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise CannotError(f"{path.parent}: can't write ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise CannotError(f"{path}: can't write ({error.strerror})") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


class _Header(msgspec.Struct):
    schema: int
