"""Reading a TOML file of ours into its struct, with errors that name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from indexer.errors import CannotError, UsageError

Kind = TypeVar("Kind")


def read_toml(path: Path, kind: type[Kind]) -> Kind:
    """Return the file's content as ``kind``.

    Raises:
        CannotError: it can't be read.
        UsageError: it is not TOML, or not of that shape; the message names the key.
    """
    import msgspec

    table = read_table(path)
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}") from error


def read_table(path: Path, *wanted: str) -> dict[str, Any]:
    """Return the file's content; with ``wanted`` an empty table, at once, where it holds none of a word.

    Raises:
        CannotError: it can't be read.
        UsageError: it is not TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if not all(word in text for word in wanted):
            return {}
        import tomllib  # only where there is something to parse: it takes longer than many a command

        return tomllib.loads(text)
    except OSError as error:
        raise CannotError(f"{path} can't be read ({error.strerror})") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise UsageError(f"{path}: {error}") from error
