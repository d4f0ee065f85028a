"""SARIF 2.1.0, for code-scanning services."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from indexer import __version__
from indexer.drift.report.record import HINT, MEANING, START, Finding, Report, RuleInfo

_LEVEL = {START: "error", MEANING: "warning", HINT: "note"}


def render(report: Report) -> str:
    """Return one SARIF log with one run."""
    codes = sorted({finding.code for finding in report.findings} | set(report.rules))
    index = {code: position for position, code in enumerate(codes)}
    run = {
        "tool": {
            "driver": {
                "name": report.tool,
                "version": __version__,
                "rules": [_rule(code, report.rules.get(code)) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.code]) for finding in report.findings],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "note",
                        "message": {"text": f"not read: {item.reason}"},
                        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(item.file)}}}],
                    }
                    for item in report.unread
                ],
            }
        ],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _uri(path: str) -> str:
    return quote(path.replace("\\", "/").encode("utf-8", "replace"), safe="/:~.-_")


def _rule(code: str, info: RuleInfo | None) -> dict[str, Any]:
    if info is None:
        return {"id": code}
    rule: dict[str, Any] = {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("-")),
        "shortDescription": {"text": info.title},
        "fullDescription": {"text": info.summary},
        "defaultConfiguration": {"level": _LEVEL[info.level]},
    }
    if info.help_uri:
        rule["helpUri"] = info.help_uri
    return rule


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    text = f"{finding.message} [SGLang {finding.version}]"
    if finding.replacement:
        text += f" Use {finding.replacement}."
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVEL[finding.level],
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.file)},
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endColumn": finding.column + max(1, finding.width),
                    },
                }
            }
        ],
        "partialFingerprints": {"indexer/v1": finding.fingerprint},
    }
