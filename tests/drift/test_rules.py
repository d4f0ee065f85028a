"""Changes of rules: what is refused, said and written, each at its level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from indexer.cli.drift import command
from indexer.drift.change import RULES
from indexer.drift.rules import rule_changes
from indexer.errors import CannotError
from indexer.knowledge.schema import SCHEMA_VERSION, Condition, Location, Rule, Snapshot, Source


def rule(kind: str, guard: str = "self.a", **more: Any) -> Rule:
    at = Location("python/sglang/x.py", 3)
    return Rule("r", kind, at, "handle", [Condition(guard)], **more)


ERROR = rule("error", message="a must not be set", exception="ValueError")
WARNING = rule("warning", message="a must not be set")
WRITE = rule("override", targets=["b"], values=["False"])


CASES = [
    ([], [ERROR], [("rule-refuses", "START")]),
    ([ERROR], [], [("rule-gone", "DOC")]),
    ([WARNING], [ERROR], [("rule-refuses", "START")]),
    ([ERROR], [WARNING], [("rule-kind", "MEANING")]),
    ([ERROR], [rule("error", "cfg.a", message="a must not be set", exception="ValueError")], []),
    ([ERROR], [rule("error", "cfg.c", message="a must not be set")], [("rule-guard", "MEANING")]),
    ([], [WARNING], [("rule-says", "DOC")]),
    ([WARNING], [], [("rule-silent", "DOC")]),
    ([WARNING], [rule("warning", "c", message="a must not be set")], [("rule-says-when", "DOC")]),
    ([], [WRITE], [("rule-override", "MEANING")]),
    ([WRITE], [rule("override", "cfg.a", targets=["b"], values=["False"])], []),
    ([WRITE], [rule("override", targets=["b"], values=["True"])], [("rule-override", "MEANING")]),
    ([WRITE], [rule("override", "c", targets=["b"], values=["False"])], [("rule-override", "MEANING")]),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_levels(old: list[Rule], new: list[Rule], expected: list[tuple[str, str]]) -> None:
    assert [(one.code, one.level) for one in rule_changes(old, new)] == expected


def test_every_kind_has_a_case() -> None:
    met = {code for _, _, expected in CASES for code, _ in expected}
    assert met == {code for code in RULES if code.startswith("rule-")}


def snapshot(path: Path, version: str, rules: list[Rule]) -> str:
    content = Snapshot(SCHEMA_VERSION, Source(version, "release"), rules=rules)
    path.write_bytes(msgspec.json.encode(content))
    return str(path)


def test_two_snapshots(tmp_path: Path) -> None:
    old, new = snapshot(tmp_path / "a.json", "1.0", [WARNING]), snapshot(tmp_path / "b.json", "1.1", [ERROR])
    told = CliRunner().invoke(command, [old, new, "--kind", "rules"])
    assert told.exit_code == 1
    assert "was a warning" in told.output


def test_rules_that_were_not_read_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path))
    with pytest.raises(CannotError, match=r"not at hand; .*indexer history rules 0\.5\.17"):
        CliRunner().invoke(command, ["0.5.17", "0.5.23", "--kind", "rules"], catch_exceptions=False)
