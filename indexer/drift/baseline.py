"""Accepted findings and changes: a TOML file that only shrinks.

Each entry carries a reason and is matched by a fingerprint without line numbers; one that is no longer
met fails the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from indexer.errors import UsageError
from indexer.toml_files import read_toml

_HEADER = """\
# What `indexer {command} --baseline` accepts. Each entry needs a reason; one that is no longer met fails
# the run, so that this file only holds what is true.
"""


class Accepted(msgspec.Struct, forbid_unknown_fields=True):
    """One entry; ``what`` is for people, the fingerprint decides."""

    fingerprint: str
    reason: str
    what: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    accepted: list[Accepted] = []


class Fingerprinted(Protocol):
    """What an entry can accept."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def described(self) -> str:
        """What it is, in one line for people."""


Item = TypeVar("Item", bound=Fingerprinted)


def read_baseline(path: Path) -> list[Accepted]:
    """Read the accepted findings or changes.

    Raises:
        CannotError: the file can't be read.
        UsageError: it is malformed, or an entry has no reason; the message names the entry.
    """
    entries = read_toml(path, _File).accepted
    for number, entry in enumerate(entries, 1):
        if not entry.reason.strip():
            named = entry.what or entry.fingerprint
            raise UsageError(f"{path}: accepted[{number}] ({named}) has no reason", "say why it is accepted")
    return entries


def split_by_baseline(
    items: Iterable[Item], entries: Sequence[Accepted]
) -> tuple[list[Item], list[Accepted]]:
    """Return what is not accepted, and the entries that met nothing."""
    known = {entry.fingerprint for entry in entries}
    rest, met = [], set()
    for item in items:
        if item.fingerprint in known:
            met.add(item.fingerprint)
        else:
            rest.append(item)
    return rest, [entry for entry in entries if entry.fingerprint not in met]


def write_baseline(path: Path, items: Iterable[Fingerprinted], old: Sequence[Accepted], command: str) -> int:
    """Write all ``items`` as the baseline of ``command``; reasons of entries that remain are kept, new
    ones are to be filled in. Return how many reasons are missing."""
    from indexer.knowledge.store import write_atomically

    reasons = {entry.fingerprint: entry.reason for entry in old}
    blocks, missing = [_HEADER.format(command=command)], 0
    for item in items:
        reason = reasons.get(item.fingerprint, "")
        missing += not reason
        blocks.append(
            f'[[accepted]]\nfingerprint = "{item.fingerprint}"\n'
            f"reason = {_toml(reason)}\nwhat = {_toml(item.described)}\n"
        )
    write_atomically(path, "\n".join(blocks).encode())
    return missing


def _toml(text: str) -> str:
    return msgspec.json.encode(text).decode()
