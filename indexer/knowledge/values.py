"""Reading a ``Value``: known, held back as ``{"repr": ...}``, or unknown with its reason."""

from __future__ import annotations

import re
from typing import Any

from indexer.knowledge.schema import Location, Unknown, Value

_WRITTEN = re.compile(r"(.+):(\d+)")


def as_unknown(value: Value) -> Unknown | None:
    """Return the ``Unknown`` in ``value``, which JSON decoding may have left as a mapping."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, dict) and isinstance(value.get("unknown"), str):
        at = value.get("at")
        return Unknown(value["unknown"], as_location(at))
    return None


def source_form(value: Value) -> str:
    """Return a known value as one would write it in Python (``None``, ``'auto'``, ``1.0``)."""
    if isinstance(value, dict):
        if "repr" in value:
            return str(value["repr"])
        for container in ("tuple", "set", "enum"):
            if container in value:
                return source_form(value[container])
    return repr(value)


def plain_form(value: Value) -> str:
    """Return a known value as one would type it on a command line (``auto``, ``1.0``)."""
    return value if isinstance(value, str) else source_form(value)


def as_location(value: Any) -> Location | None:
    """Return the location in ``value``, which JSON decoding may have left as a mapping."""
    if isinstance(value, Location):
        return value
    if isinstance(value, dict) and isinstance(value.get("path"), str) and isinstance(value.get("line"), int):
        return Location(value["path"], value["line"], value.get("end_line"), value.get("symbol"))
    return None


def written_place(value: Any) -> Location | None:
    """Return the location that a text ``path:line`` names, or that ``value`` is."""
    match = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    return Location(match[1], int(match[2])) if match else as_location(value)
