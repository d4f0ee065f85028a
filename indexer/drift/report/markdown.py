"""Markdown, for pull-request comments and release notes."""

from __future__ import annotations

import re

from indexer.drift.report.record import LEVELS, Finding, Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def render(report: Report) -> str:
    """Return a heading with the counts and one table, worst level first."""
    counts = ", ".join(f"{report.count(level)} {level}" for level in LEVELS)
    lines = [f"### {report.tool}: {counts} in {len(report.files)} file(s)", ""]
    if report.findings:
        lines += [
            "| level | code | where | flag | version | what | use instead |",
            "|---|---|---|---|---|---|---|",
        ]
        ordered = sorted(report.findings, key=lambda finding: LEVELS.index(finding.level))
        lines += [_row(finding) for finding in ordered]
        lines.append("")
    if report.unread:
        lines += ["Not read:", ""]
        lines += [f"- {_text(item.file)}: {_text(item.reason)}" for item in report.unread]
        lines.append("")
    return "\n".join(lines)


def _row(f: Finding) -> str:
    where = _code(f"{f.file}:{f.line}:{f.column}")
    message = _text(f.message) + (f" ({_code(f.at)})" if f.at else "")
    cells = (f.level, f.code, where, _code(f.flag), f.version, message, _code(f.replacement))
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str | None) -> str:
    if not text:
        return ""
    flat = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if "`" in flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"
