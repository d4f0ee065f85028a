"""Comparing extracted rules with those read by hand (``../shared/golden/rules-*.json``).

A golden row counts as found when a rule of the same kind covers its line: the line of a statement that
runs over several lines is given sometimes as its first line, sometimes as that of its message. Two rows
name a line of the guard right above the statement instead; they count where the rule's own innermost
condition starts there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from indexer.knowledge.schema import Rule

_ADJACENT_LINES = 4
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_PROSE = {
    "above",
    "algo",
    "allow",
    "always",
    "arch",
    "architecture",
    "archs",
    "attention",
    "auto",
    "backend",
    "before",
    "both",
    "branch",
    "branches",
    "bundle",
    "callback",
    "called",
    "case",
    "cases",
    "checkpoint",
    "computed",
    "condition",
    "decode",
    "default",
    "dispatch",
    "does",
    "draft",
    "earlier",
    "early",
    "either",
    "elif",
    "else",
    "entry",
    "explicit",
    "false",
    "falsy",
    "family",
    "flag",
    "found",
    "from",
    "given",
    "helper",
    "includes",
    "into",
    "known",
    "lambda",
    "layers",
    "layout",
    "list",
    "listed",
    "local",
    "locked",
    "major",
    "model",
    "models",
    "multimodal",
    "none",
    "only",
    "otherwise",
    "over",
    "parameter",
    "part",
    "path",
    "prefill",
    "previous",
    "resolved",
    "return",
    "rule",
    "rules",
    "size",
    "specific",
    "support",
    "supports",
    "target",
    "that",
    "this",
    "true",
    "truthy",
    "tuple",
    "unset",
    "used",
    "user",
    "uses",
    "value",
    "when",
    "with",
}


REVIEWED = {
    "0.5.9 server_args.py:1711-1764": "the row abbreviates architecture names (Jet*)",
    "0.5.9 server_args.py:1816": "the row explains an else branch in prose",
    "0.5.17 speculative_hook.py:58": "the row writes Gemma4(Unified)Assistant… for the two names in ours",
    "0.5.17 speculative_hook.py:152-507": "the row names the method, ours its test",
    "overrides.py:1492-1501, 476-483": "the row names Granite in words",
    "0.5.17 overrides.py:682": "the row remarks that NEXTN is not yet an alias",
    "0.5.17 overrides.py:1385": "the same lambda, with the row's own word for its parameter",
    "0.5.17 overrides.py:2026": "the row says in words what ours has as an early return",
    "0.5.17 server_args.py:6078": "the row explains what capability 10 includes",
    "0.5.17 server_args.py:4521, 0.5.23 lora_hook.py:299": "the row sums up a table",
    "0.5.17 attention_registry.py:389": "hybrid GDN stands in ours as what prefill_default was set from",
    "0.5.23 speculative_hook.py:743": "the row says walrus; ours has the expression",
    "0.5.23 model_override_base.py:333": "the row sums up the else branches of ours",
}
"""Rows whose guard the word match can't confirm, read by eye and found equivalent."""


@dataclass
class Comparison:
    """What was found of one golden row."""

    row: dict
    rules: list[Rule] = field(default_factory=list)
    in_guard: bool = False
    missing_targets: set[str] = field(default_factory=set)
    missing_conditions: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        return bool(self.rules)


def compare(version: str, folder: Path, rules: list[Rule]) -> list[Comparison]:
    """Return the comparison of every golden row of a release."""
    rows = json.loads((folder / f"rules-{version}.json").read_text())["rules"]
    return [_compare(row, rules) for row in rows]


def _compare(row: dict, rules: list[Rule]) -> Comparison:
    path, _, number = row["at"].rpartition(":")
    path, line = f"python/{path}", int(number)
    here = [rule for rule in rules if rule.at.path == path]
    result = Comparison(row, [one for one in here if _covers(one, line) and one.kind == row["kind"]])
    if not result.rules:
        result.rules = [one for one in here if one.kind == row["kind"] and _guarded_from(one, line)]
        result.in_guard = bool(result.rules)
    if not result.rules:
        return result
    together = [one for one in here if one.kind == row["kind"] and _continues(one, result.rules[0], line)]
    given = {target for one in (*result.rules, *together) for target in one.targets}
    if row["kind"] != "override":
        given |= {flag for one in result.rules for flag in one.flags}
    result.missing_targets = {_plain(one) for one in row["targets"]} - {_plain(one) for one in given}
    known = " ".join(_guard_text(one) for one in result.rules)
    result.missing_conditions = [text for text in row["guard"] if not _holds(text, known)]
    return result


def _covers(rule: Rule, line: int) -> bool:
    return rule.at.line <= line <= (rule.at.end_line or rule.at.line)


def _guarded_from(rule: Rule, line: int) -> bool:
    own = [
        one.at.line
        for one in rule.guard
        if one.at is not None and one.at.path == rule.at.path and one.how == "if"
    ]
    return bool(own) and line < rule.at.line <= line + _ADJACENT_LINES and any(start <= line for start in own)


def _continues(rule: Rule, first: Rule, line: int) -> bool:
    """Return whether a rule is a next statement of the same block: some rows give two as one."""
    same = [(one.text, one.holds) for one in rule.guard] == [(one.text, one.holds) for one in first.guard]
    return rule.function == first.function and line <= rule.at.line <= line + _ADJACENT_LINES and same


def _plain(target: str) -> str:
    return target.removeprefix("hf_config.")


def _guard_text(rule: Rule) -> str:
    parts = [one.text for one in rule.guard] + rule.flags + rule.helpers + rule.values + rule.targets
    return " ".join(
        [*parts, rule.function, rule.message or "", *rule.bindings.values(), *rule.where.values()]
    )


def _holds(condition: str, known: str) -> bool:
    """Return whether every name and constant of a hand-written condition stands in the guard."""
    wanted = {
        *_NAME.findall(condition),
        *(part for text in _QUOTED.findall(condition) for part in text.split()),
    }
    wanted = {one for one in wanted if one.lower() not in _PROSE}
    flat = known.lower().replace("-", "_")
    return all(_mentioned(one.lower().replace("-", "_"), flat) for one in wanted)


def _mentioned(name: str, known: str) -> bool:
    stem = name.rstrip("0123456789s")
    return name in known or (len(stem) > 3 and stem in known)
