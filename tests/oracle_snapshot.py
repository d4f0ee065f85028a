"""A snapshot made from what the real parser said: input for tests of what reads snapshots."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from indexer.knowledge.facts import facts_of
from indexer.knowledge.history import History
from indexer.knowledge.history_file import Release
from indexer.knowledge.history_fold import fold
from indexer.knowledge.schema import (
    SCHEMA_VERSION,
    Algorithm,
    AlgorithmRegistry,
    Choice,
    Coverage,
    Deprecation,
    Field,
    Flag,
    Location,
    Snapshot,
    Source,
)


def oracle_versions(oracle: Path) -> list[str]:
    """Return the versions there are flag files of, oldest first."""
    found = (path.stem.removeprefix("flags-") for path in oracle.glob("flags-*.json"))
    return sorted(found, key=Version)


def oracle_snapshot(oracle: Path, version: str) -> Snapshot:
    """Return the flags and algorithms of ``flags-<version>.json`` as a snapshot."""
    said = json.loads((oracle / f"flags-{version}.json").read_text())
    algorithms = said.get("speculative_algorithms") or {}
    enum_at = _place(algorithms.get("source"))
    return Snapshot(
        schema=SCHEMA_VERSION,
        source=Source(version, "release", f"sglang-{version}-py3-none-any.whl"),
        flags=[_flag(entry) for entry in said["flags"]],
        fields=[Field(field["name"], field["has_cli"]) for field in said["fields"]],
        registry=AlgorithmRegistry(declared_at=enum_at),
        algorithms=[
            Algorithm(name, declared_at=enum_at, predicates=member.get("predicates", {}))
            for name, member in (algorithms.get("members") or {}).items()
            if enum_at
        ],
        coverage=Coverage(layouts=["oracle"], counts={"flags": {"recognised": len(said["flags"])}}),
    )


@cache
def oracle_history(oracle: Path) -> History:
    """Return the history of all the oracle's versions."""
    versions = oracle_versions(oracle)
    facts = [facts_of(oracle_snapshot(oracle, version)) for version in versions]
    return History(fold([Release(version) for version in versions], facts))


def _flag(entry: dict[str, Any]) -> Flag:
    options = entry["option_strings"]
    declared = _place(entry.get("field_declared_at")) or _place(entry["registered_at"])
    choices = entry["choices"] if isinstance(entry["choices"], list) else None
    return Flag(
        name=options[0].lstrip("-"),
        option_strings=options,
        dest=entry["dest"],
        action=entry["action"],
        nargs=entry["nargs"],
        const=entry["const"],
        default=entry["default"],
        type=entry["type"],
        choices=choices,
        required=entry["required"],
        metavar=entry["metavar"],
        choices_container="set" if entry.get("choices_unordered") else None,
        help=entry["help"]["sha256"] if entry["help"] else None,
        help_suppressed=entry.get("help_suppressed", False),
        choices_at=[Choice(choice, declared) for choice in choices or []],
        deprecated=_deprecation(entry, declared),
        declared_at=declared,
        registered_at=_place(entry["registered_at"]),
        field=entry["dest"],
        namespace=entry.get("field_class"),
    )


def _deprecation(entry: dict[str, Any], at: Location) -> Deprecation | None:
    if "Deprecated" not in entry["action"]:
        return None
    probe = entry.get("action_probe") or {}
    return Deprecation(at, (entry.get("action_extra") or {}).get("new_flag"), raises="raises" in probe)


def _place(text: str | None) -> Location | None:
    if not text:
        return None
    path, line = text.split(":")[:2]
    return Location(f"python/{path}", int(line))
