"""JUnit XML: one test case per file, one failure per START or MEANING finding in it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from indexer.drift.report.record import HINT, Finding, Report

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't carry, even escaped."""


def render(report: Report) -> str:
    """Return one test suite. Hints and unread files are told in ``system-out`` and as skipped."""
    by_file: dict[str, list[Finding]] = {file: [] for file in report.files}
    for finding in report.findings:
        by_file.setdefault(finding.file, []).append(finding)
    unread = {item.file: item.reason for item in report.unread}
    suite = ET.Element("testsuite", name=report.tool)
    failures = 0
    for file in sorted(by_file.keys() | unread.keys()):
        case = ET.SubElement(suite, "testcase", name=_clean(file), classname=report.tool)
        hints = [finding for finding in by_file.get(file, []) if finding.level == HINT]
        for finding in by_file.get(file, []):
            if finding.level != HINT:
                failures += 1
                failure = ET.SubElement(case, "failure", type=finding.code, message=_clean(finding.message))
                failure.text = _clean(_line(finding))
        if file in unread:
            ET.SubElement(case, "skipped", message=_clean(f"not read: {unread[file]}"))
        if hints:
            ET.SubElement(case, "system-out").text = _clean("\n".join(map(_line, hints)))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(len(unread)))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _line(f: Finding) -> str:
    use = f" use: {f.replacement}" if f.replacement else ""
    return f"{f.file}:{f.line}:{f.column}: {f.level} {f.code}: {f.message} [{f.version}]{use}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
