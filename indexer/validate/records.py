"""Run records: what one real launch was, did and proved. One JSON file a launch in ``evidence/``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from indexer.errors import CannotError

SCHEMA_VERSION = 1

Kind = Literal["baseline", "serve", "override", "refusal"]
"""What a launch was planned for: the yardstick without speculation, a working combination, a value
that the resolver replaces, a combination that it refuses."""
Outcome = Literal["served", "refused", "failed"]
"""``refused``: the argument resolver said no before anything was loaded. ``failed``: anything else
that kept the launch from serving all requests."""


class Machine(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where it ran: GPU name, SM (``90``), number of GPUs used, memory in bytes, driver."""

    gpu: str
    sm: str
    gpus: int
    memory: int
    driver: str | None = None
    kind: str | None = None


class ModelUsed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A generated model: its folder name, family, the generator's version and its files' digest."""

    name: str
    family: str
    generator: int
    digest: str


class Override(msgspec.Struct, frozen=True, omit_defaults=True):
    """A field whose resolved value is not the asked one; ``by`` cites the deciding line, if known."""

    field: str
    asked: Any
    got: Any
    by: str | None = None


class Prediction(msgspec.Struct, omit_defaults=True):
    """What was said beforehand, and by which tier: ``static`` (explain) or ``resolver``."""

    tier: str
    refused: bool
    error: str | None = None
    where: str | None = None
    resolved: dict[str, Any] = {}


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One judged effect. ``passed`` is None where it does not apply or can't be judged."""

    name: str
    passed: bool | None
    detail: str = ""


class Log(msgspec.Struct, frozen=True, omit_defaults=True):
    """The server's log: sha256, number of lines, and the lines that decide."""

    digest: str | None
    lines: int
    telling: list[str] = []
    tail: list[str] = []


class Record(msgspec.Struct, omit_defaults=True):
    """One launch.

    ``asked`` holds the parsed value of every field given on the command line beyond the plan's base
    flags; ``resolved`` the server's own account of fields that were asked for, differ from their
    default or belong to speculation. Paths of generated models appear as ``{models}/NAME``.
    """

    schema: int
    id: str
    launch: str
    kind: Kind
    version: str
    machine: Machine
    versions: dict[str, str]
    model: ModelUsed
    command: list[str]
    flags: list[str]
    outcome: Outcome
    started: str
    seconds: float
    draft: ModelUsed | None = None
    algorithm: str | None = None
    artifact_sha256: str | None = None
    env: dict[str, str] = {}
    asked: dict[str, Any] = {}
    resolved: dict[str, Any] = {}
    overrides: list[Override] = []
    predicted: list[Prediction] = []
    error: str | None = None
    where: str | None = None
    start_seconds: float | None = None
    side_by_side: int = 1
    checks: list[Check] = []
    numbers: dict[str, Any] = {}
    log: Log | None = None
    requests: dict[str, Any] = {}
    margins: dict[str, Any] = {}

    @property
    def proved(self) -> bool:
        """Say whether the launch did what it was planned for and no check failed."""
        expected = "refused" if self.kind == "refusal" else "served"
        return self.outcome == expected and all(check.passed is not False for check in self.checks)


def encode(record: Record) -> bytes:
    """Return a record's file: one line a field, so that the same record is the same bytes."""
    fields = msgspec.to_builtins(record)
    lines = [
        msgspec.json.encode(name) + b": " + msgspec.json.encode(value, order="sorted")
        for name, value in fields.items()
    ]
    return b"{\n " + b",\n ".join(lines) + b"\n}\n"


def decode(data: bytes, name: str = "record") -> Record:
    """Read a record's file.

    Raises:
        CannotError: it is no record of this schema.
    """
    try:
        record = msgspec.json.decode(data, type=Record)
    except msgspec.MsgspecError as error:
        raise CannotError(
            f"{name}: not a run record ({error})", "run `indexer validate collect` again"
        ) from None
    if record.schema != SCHEMA_VERSION:
        raise CannotError(f"{name}: record schema {record.schema}, this version reads {SCHEMA_VERSION}")
    return record


def load(folder: Path) -> list[Record]:
    """Return the records of a folder's ``*.json`` files, by id.

    Raises:
        CannotError: a file is no record.
    """
    records = [decode(path.read_bytes(), path.name) for path in sorted(folder.glob("*.json"))]
    return sorted(records, key=lambda record: record.id)


def save(records: Iterable[Record], folder: Path) -> list[Path]:
    """Write each record to ``folder`` as ``VERSION-GPUS-LAUNCH.json``; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for record in records:
        path = folder / (record.id.replace("/", "-") + ".json")
        part = path.with_suffix(".part")
        part.write_bytes(encode(record))
        part.replace(path)
        written.append(path)
    return written


def schema() -> dict[str, Any]:
    """Return the published JSON schema of a record."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Record)}


def without_source(tail: list[str]) -> list[str]:
    """Return the end of a log without the source lines that tracebacks quote: the frames suffice."""
    kept = [line for line in tail if not line.startswith("    ")]
    # A tail that begins inside a traceback begins with a quoted line of a frame that is cut off.
    return [line for line in kept if line.strip(" ^~")]
