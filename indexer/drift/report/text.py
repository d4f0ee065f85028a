"""For people: one block per finding, with the line and a caret under the flag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from indexer.drift.report.record import LEVELS, Finding, Report

_TAB = "    "
_MOST_NAMED = 4
_MAX_SNIPPET = 160
"""Longer source lines are cut around the flag: a one-line launch can be thousands of characters."""


def render(report: Report) -> str:
    """Return the findings, then what was not read, then one summary line."""
    blocks = [_block(group) for group in _same_but_version(report.findings)]
    told_apart = set(report.failed)
    notes = [f"{item.file}: not read: {item.reason}" for item in report.unread if item not in told_apart]
    return "\n".join([*blocks, *notes, _summary(report)]) + "\n"


def _same_but_version(findings: list[Finding]) -> Iterator[list[Finding]]:
    """Group findings that differ only in the version, so that a range of versions is one block."""

    def key(f: Finding) -> tuple[object, ...]:
        return (f.file, f.line, f.column, f.code, f.flag or "", f.level)

    for _, group in groupby(sorted(findings, key=key), key=key):
        yield sorted(group, key=lambda f: _by_number(f.version))


def _block(group: list[Finding]) -> str:
    first = group[0]
    versions = first.version if len(group) == 1 else f"{len(group)} versions: {_span(group)}"
    lines = [
        f"{first.file}:{first.line}:{first.column}: {first.level} {first.code}: {first.message} [{versions}]"
    ]
    if first.source_line is not None:
        lines += _snippet(first)
    if first.replacement:
        lines.append(f"   = use: {first.replacement}")
    if first.at:
        lines.append(f"   = says: {first.at}")
    return "\n".join(lines)


def _span(group: list[Finding]) -> str:
    return f"{group[0].version} … {group[-1].version}"


def _snippet(finding: Finding) -> list[str]:
    source = finding.source_line or ""
    start = max(0, finding.column - 1)
    if len(source) > _MAX_SNIPPET:
        cut = max(0, start - 40)
        source, start = "…" + source[cut : cut + _MAX_SNIPPET], start - cut + 1
    shown = source.replace("\t", _TAB).rstrip()
    caret_at = len(source[:start].replace("\t", _TAB))
    gutter = f"{finding.line:>5} | "
    marker = " " * len(gutter[:-2]) + "| " + " " * caret_at + "^" * max(1, finding.width)
    return [gutter + shown, marker]


def _number(count: int, what: str, ending: str) -> str:
    return f"{count:,} {what}{ending if count != 1 else ''}"


def _by_number(version: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", version)]


def _range(versions: list[str]) -> str:
    return f"{len(versions)} versions, {versions[0]} … {versions[-1]}"


def _summary(report: Report) -> str:
    groups = [group[0].level for group in _same_but_version(report.findings)]
    counts = ", ".join(f"{groups.count(level)} {level}" for level in LEVELS)
    launches = f", {_number(report.launches, 'launch', 'es')}" if report.launches else ""
    parts = [_number(len(report.files), "file", "s") + launches, counts]
    versions = sorted({v for judged in report.versions.values() for v in judged}, key=_by_number)
    if len(groups) < len(report.findings):
        parts[-1] += f" (the same in several versions counted once; {len(report.findings):,} in all)"
    if versions:
        origin = sorted(set(report.origins.values()))
        said = f" ({'; '.join(origin[:3])}{'; …' if len(origin) > 3 else ''})" if origin else ""
        shown = ", ".join(versions) if len(versions) <= _MOST_NAMED else _range(versions)
        parts.append(f"against {shown}{said}")
    elif report.files:
        parts.append("no SGLang launch found")
    if report.suppressed:
        parts.append(f"{report.suppressed} accepted by comment or baseline")
    if report.unread:
        parts.append(f"{len(report.unread)} not read")
    return "; ".join(parts)
