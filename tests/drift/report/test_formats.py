"""Every reporter over one report that holds hostile text, and over an empty one."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from indexer.drift.report import FORMATS, render
from indexer.drift.report.as_json import SCHEMA_PATH
from indexer.drift.report.record import Finding, Report, RuleInfo, Unread, with_fingerprints
from indexer.errors import UsageError

SARIF_SUBSET = Path(__file__).parents[2] / "fixtures" / "sarif" / "subset.schema.json"


def report() -> Report:
    source = "\tpython -m sglang.launch_server --modle-path x | tee `log`"
    findings = [
        Finding(
            code="unknown-flag",
            level="START",
            file="serve it/a,b.sh",
            line=3,
            column=33,
            message="--modle-path does not exist, 100% sure\nsee <docs> | more",
            version="0.5.23",
            flag="--modle-path",
            replacement="--model-path",
            at="python/sglang/srt/server_args.py:12",
            width=12,
            source_line=source,
        ),
        Finding(
            code="abbreviated-flag",
            level="HINT",
            file="x.sh",
            line=1,
            column=1,
            message="bell \x07",
            version="0.5.23",
        ),
    ]
    return Report(
        findings=with_fingerprints(findings),
        files=["serve it/a,b.sh", "x.sh"],
        versions={"x.sh": ["0.5.23"]},
        origins={"x.sh": "--version"},
        unread=[Unread("bin.dat", "binary")],
        rules={"unknown-flag": RuleInfo("unknown-flag", "START", "Unknown flag", "No such flag.")},
    )


@pytest.mark.parametrize("name", FORMATS)
def test_empty_report_renders(name: str) -> None:
    assert isinstance(render(Report(), name), str)


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="sarif"):
        render(Report(), "yaml")


def test_text_puts_the_caret_under_the_flag() -> None:
    lines = render(report(), "text").splitlines()
    shown = next(line for line in lines if "| " in line and "--modle-path x" in line)
    marker = lines[lines.index(shown) + 1]
    assert marker.index("^") == shown.index("--modle-path")
    assert marker.count("^") == len("--modle-path")
    assert "bin.dat: not read: binary" in lines
    assert "1 START, 0 MEANING, 1 HINT" in lines[-1]


def test_text_folds_one_finding_over_many_versions() -> None:
    one = report().findings[0]
    findings = [
        Finding(**{**{f: getattr(one, f) for f in one.__struct_fields__}, "version": v}) for v in ("1", "2")
    ]
    text = render(Report(findings=findings), "text")
    assert text.count("unknown-flag") == 1
    assert "2 versions: 1 … 2" in text


def test_json_matches_its_published_schema() -> None:
    body = json.loads(render(report(), "json"))
    jsonschema.validate(body, json.loads(SCHEMA_PATH.read_text()))
    assert body["findings"][0]["flag"] == "--modle-path"
    assert body["versions"] == {"x.sh": {"judged": ["0.5.23"], "from": "--version"}}


def test_sarif_holds_only_what_the_standard_has() -> None:
    log = json.loads(render(report(), "sarif"))
    jsonschema.validate(log, json.loads(SARIF_SUBSET.read_text()))
    run = log["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["results"][0]["level"] == "error"


def test_github_escapes_what_would_end_a_command() -> None:
    first, *rest = render(report(), "github").splitlines()
    assert first.startswith("::error file=serve it/a%2Cb.sh,line=3,col=33,title=unknown-flag::")
    assert "100%25 sure%0Asee" in first
    assert [line.split(" ")[0] for line in rest] == ["::notice", "::notice"]


def test_junit_is_xml_whatever_the_text() -> None:
    suite = ET.fromstring(render(report(), "junit").split("\n", 1)[1])
    assert suite.get("failures") == "1"
    assert suite.get("skipped") == "1"
    assert [case.get("name") for case in suite] == ["bin.dat", "serve it/a,b.sh", "x.sh"]


def test_markdown_keeps_one_row_per_finding() -> None:
    rows = [line for line in render(report(), "markdown").splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert "&lt;" not in rows[1] and "\\<docs\\> \\| more" in rows[1]


def test_fingerprints_survive_lines_moving_and_tell_repeats_apart() -> None:
    first, moved = report(), report()
    for finding in moved.findings:
        finding.line += 7
    again = [f.fingerprint for f in with_fingerprints(moved.findings)]
    assert again == [f.fingerprint for f in first.findings]
    twice = with_fingerprints([report().findings[1], report().findings[1]])
    assert twice[0].fingerprint != twice[1].fingerprint
