"""Configuration in ``indexer.toml`` (``[check]``) or ``pyproject.toml`` (``[tool.indexer.check]``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from indexer.drift.lint.lints import CODES
from indexer.errors import UsageError
from indexer.toml_files import read_table


class Settings(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    """What may be configured. Paths are relative to the file; the command line wins."""

    version: str | None = None
    versions: str | None = None
    fail_on: Literal["START", "MEANING", "HINT", "never"] | None = None
    ignore: list[str] = []
    exclude: list[str] = []
    baseline: str | None = None
    resolve: bool | None = None


def find_settings(start: Path) -> tuple[Settings, Path | None]:
    """Return the settings that hold in ``start`` and the file they are from, looking upwards until
    the repository's root.

    Raises:
        UsageError: a settings file is malformed; the message names the key.
    """
    for folder in (start, *start.parents):
        for name, keys in (("indexer.toml", ("check",)), ("pyproject.toml", ("tool", "indexer", "check"))):
            path = folder / name
            if path.is_file():
                table = _table(path, keys)
                if table is not None:
                    return read_settings(path, table), path
        if (folder / ".git").exists():
            break
    return Settings(), None


def load_settings(path: Path) -> Settings:
    """Read the settings of a file that was named.

    Raises:
        UsageError: it has no such table, or is malformed.
    """
    keys = ("tool", "indexer", "check") if path.name == "pyproject.toml" else ("check",)
    table = _table(path, keys)
    if table is None:
        raise UsageError(f"{path} has no [{'.'.join(keys)}]")
    return read_settings(path, table)


def _table(path: Path, keys: tuple[str, ...]) -> dict[str, Any] | None:
    table: Any = read_table(path, *keys)
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def read_settings(path: Path, table: dict[str, Any]) -> Settings:
    """Return the settings of a table, every code and key checked."""
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}") from error
    for code in settings.ignore:
        if code not in CODES:
            raise UsageError(f"{path}: ignore: no code {code!r}", f"one of {', '.join(CODES)}")
    return settings
