"""For machines: the form that ``findings.schema.json`` beside this module describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from indexer.drift.report.record import Finding, Report

SCHEMA_PATH = Path(__file__).with_name("findings.schema.json")
_FIELDS = (
    "code",
    "level",
    "file",
    "line",
    "column",
    "flag",
    "message",
    "version",
    "replacement",
    "at",
    "fingerprint",
)


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """Return the published fields of a finding, in the published order."""
    return {name: getattr(finding, name) for name in _FIELDS}


def render(report: Report) -> str:
    """Return the report as indented JSON."""
    body = {
        "findings": [finding_as_dict(finding) for finding in report.findings],
        "files": report.files,
        "versions": {
            file: {"judged": judged, "from": report.origins.get(file, "")}
            for file, judged in report.versions.items()
        },
        "unread": [{"file": item.file, "reason": item.reason} for item in report.unread],
        "no_launch": report.no_launch,
    }
    return json.dumps(body, indent=2, ensure_ascii=True) + "\n"
