"""The oracle's flag files as snapshots, so that what reads snapshots is tested on real parsers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from indexer.knowledge.schema import Algorithm, Field, Flag, Location, Snapshot, Source


def oracle_versions(shared: Path) -> list[str]:
    """Return the versions of the oracle, oldest first."""
    from packaging.version import Version

    found = [path.stem.removeprefix("flags-") for path in (shared / "oracle").glob("flags-*.json")]
    return sorted(found, key=Version)


def oracle_snapshot(shared: Path, version: str) -> Snapshot:
    """Return the real parser's flags, record fields and algorithms of a version."""
    raw = json.loads((shared / "oracle" / f"flags-{version}.json").read_text())
    members = raw.get("speculative_algorithms", {}).get("members") or []
    names = list(members) if isinstance(members, dict) else [m["name"] if isinstance(m, dict) else m for m in members]
    return Snapshot(
        schema=1,
        source=Source(version=version, origin="release"),
        flags=[_flag(flag) for flag in raw["flags"]],
        fields=[Field(field["name"], has_cli=field["has_cli"]) for field in raw["fields"]],
        algorithms=[Algorithm(name, Location("oracle", 1)) for name in names],
    )


def _flag(raw: dict[str, Any]) -> Flag:
    place = raw.get("field_declared_at") or raw.get("registered_at")
    path, line = place.rsplit(":", 1)
    known = {name: raw[name] for name in ("option_strings", "dest", "action", "nargs", "const", "default")}
    return Flag(
        name=raw["option_strings"][0].lstrip("-"),
        **known,
        type=raw["type"],
        choices=raw["choices"],
        choices_container="set" if raw.get("choices_unordered") else None,
        required=raw["required"],
        metavar=raw["metavar"],
        help=msgspec.json.encode(raw["help"]).decode() if raw["help"] else None,
        help_suppressed=raw.get("help_suppressed", False),
        declared_at=Location(f"python/{path}", int(line)),
    )
