"""Accepted changes: a TOML file whose entries carry a reason and must still be needed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from indexer.drift.change import Change
from indexer.errors import CannotError, UsageError
from indexer.knowledge.store import write_atomically

_HEADER = """\
# Changes that `indexer drift --baseline` accepts. Each needs a reason; one that is no longer met fails
# the run, so that this file only holds what is true.
"""


class Accepted(msgspec.Struct, forbid_unknown_fields=True):
    """One entry. ``change`` is for people; the fingerprint decides."""

    fingerprint: str
    reason: str
    change: str = ""


class Baseline(msgspec.Struct, forbid_unknown_fields=True):
    """The file."""

    accepted: list[Accepted] = []

    def split(self, changes: Iterable[Change]) -> tuple[list[Change], list[Accepted]]:
        """Return the changes that are not accepted, and the entries that met no change."""
        known = {entry.fingerprint for entry in self.accepted}
        rest, met = [], set()
        for change in changes:
            if change.fingerprint in known:
                met.add(change.fingerprint)
            else:
                rest.append(change)
        return rest, [entry for entry in self.accepted if entry.fingerprint not in met]


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        CannotError: it can't be read.
        UsageError: it is malformed, or an entry has no reason; the message names the entry.
    """
    try:
        baseline = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Baseline)
    except OSError as error:
        raise CannotError(f"{path} can't be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}") from error
    for number, entry in enumerate(baseline.accepted, start=1):
        if not entry.reason.strip():
            named = entry.change or entry.fingerprint
            raise UsageError(f"{path}: accepted[{number}] ({named}) has no reason", "say why it is accepted")
    return baseline


def write_baseline(changes: Iterable[Change], path: Path) -> None:
    """Write all ``changes`` as a baseline whose reasons are still to be filled in."""
    blocks = [_HEADER]
    for change in changes:
        shown = msgspec.json.encode(change.message).decode()
        blocks.append(f'[[accepted]]\nfingerprint = "{change.fingerprint}"\nreason = ""\nchange = {shown}\n')
    write_atomically(path, "\n".join(blocks).encode())
