"""What a lint found, by offsets in the launch file's text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Raw:
    """A finding before it has a file: offsets instead of lines. ``fix`` is the text that may
    replace ``start:end``, None where no rewrite is certain."""

    code: str
    level: str
    message: str
    start: int
    end: int
    flag: str | None = None
    replacement: str | None = None
    at: str | None = None
    fix: str | None = None
