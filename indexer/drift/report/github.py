"""GitHub workflow commands: each finding becomes an annotation on the changed line."""

from __future__ import annotations

from indexer.drift.report.record import HINT, MEANING, START, Finding, Report

_COMMAND = {START: "error", MEANING: "warning", HINT: "notice"}


def render(report: Report) -> str:
    """Return one workflow command per finding, and a notice per unread file."""
    lines = [_annotation(finding) for finding in report.findings]
    lines += [
        f"::notice file={_property(item.file)}::{_data(f'not read: {item.reason}')}" for item in report.unread
    ]
    return "".join(line + "\n" for line in lines)


def _annotation(finding: Finding) -> str:
    where = f"file={_property(finding.file)},line={finding.line},col={finding.column}"
    text = f"{finding.message} [SGLang {finding.version}]"
    if finding.replacement:
        text += f" Use {finding.replacement}."
    return f"::{_COMMAND[finding.level]} {where},title={_property(finding.code)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
