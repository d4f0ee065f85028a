"""Reporters shared by ``indexer check`` and ``indexer drift``: a ``Report`` in, text out.

One formatter per module, each with ``render(report) -> str``; a module is imported when its format
is asked for.
"""

from __future__ import annotations

import importlib

from indexer.drift.report.record import Report
from indexer.errors import UsageError

FORMATS = {
    "text": "text",
    "json": "as_json",
    "sarif": "sarif",
    "github": "github",
    "junit": "junit",
    "markdown": "markdown",
}
"""Format name → module in this package."""


def render(report: Report, format_name: str) -> str:
    """Return the report in one of ``FORMATS``, ending with a newline unless empty.

    Raises:
        UsageError: no such format.
    """
    if format_name not in FORMATS:
        raise UsageError(f"no format {format_name!r}", f"one of {', '.join(FORMATS)}")
    module = importlib.import_module(f"{__name__}.{FORMATS[format_name]}")
    text: str = module.render(report)
    return text
