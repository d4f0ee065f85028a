"""The walk against a real argparse parser: what it accepts has no START finding, what it refuses has one.

The parser is rebuilt from the oracle's record of each release's actions, so prefixes, ``=``, ``nargs``,
negative numbers, types and choices are argparse's own.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import pytest

from indexer.drift.launch.model import Launch, Word
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.judge import judge_launch
from tests.drift.oracle_facts import JSON_TYPES, OracleFacts, Refused

PER_VERSION = 2000
GOOD = {
    "int": ["8", "-1", "0", "1_0"],
    "float": ["0.5", "-3.5", "1", "-.5", "inf"],
    "loads": ['{"a": 1}', "3"],
}
BAD = {"int": ["two", "1.5", "", "8k"], "float": ["half", "", "0,5"], "loads": ["{a", "x"]}


def launch_of(argv: list[str]) -> Launch:
    words, at = [], 0
    for text in argv:
        words.append(Word(text, at, at + len(text)))
        at += len(text) + 1
    return Launch(program="server", words=words, told=True)


class Maker:
    """Argument lists that are mostly right, with one kind of mistake mixed in now and then."""

    def __init__(self, entries: list[dict[str, Any]], seed: int) -> None:
        self.random = random.Random(seed)
        # The launcher takes --config and its file out before argparse sees the words.
        self.entries = [entry for entry in entries if "--config" not in entry["option_strings"]]
        self.options = [option for entry in self.entries for option in entry["option_strings"]]

    def argv(self) -> list[str]:
        out = (
            []
            if self.random.random() < 0.05
            else self.random.choice([["--model-path", "m"], ["--model-path=m"]])
        )
        for _ in range(self.random.randint(0, 6)):
            out += self.option(self.random.choice(self.entries))
        if self.random.random() < 0.05:
            out.insert(
                self.random.randint(0, len(out)),
                self.random.choice(["x", "-1", "-x", "--nope", "true", "-", ""]),
            )
        return out

    def option(self, entry: dict[str, Any]) -> list[str]:
        spelled = self.random.choice(entry["option_strings"])
        if self.random.random() < 0.25:
            spelled = spelled[: self.random.randint(3, len(spelled))]
        if self.random.random() < 0.02:
            spelled = spelled.replace("-", "_").replace("__", "--", 1)
        values = self.values(entry)
        if len(values) == 1 and self.random.random() < 0.3:
            return [f"{spelled}={values[0]}"]
        return [spelled, *values]

    def values(self, entry: dict[str, Any]) -> list[str]:
        if self.random.random() < 0.04:
            return self.random.choice([[], ["x"], ["a", "b"], ["-5"], ["--"[:1]], ["a b"], ["-a b"]])
        count = {None: 1, "?": self.random.randint(0, 1)}.get(entry["nargs"], entry["nargs"])
        if count in ("*", "+"):
            count = self.random.randint(0 if count == "*" else 1, 3)
        return [self.value(entry) for _ in range(count)]

    def value(self, entry: dict[str, Any]) -> str:
        kind, wrong = entry["type"] or "str", self.random.random() < 0.06
        kind = "loads" if kind in JSON_TYPES else kind
        if entry["choices"]:
            return "no-such-choice" if wrong else str(self.random.choice(entry["choices"]))
        if wrong and kind in BAD:
            return self.random.choice(BAD[kind])
        return self.random.choice(GOOD.get(kind, ["text", "a b", "/p", "x=y", "{}", "0"]))


def accepted(parser: argparse.ArgumentParser, argv: list[str]) -> bool:
    try:
        parser.parse_args(argv)
    except Refused:
        return False
    return True


def disagreements(facts: OracleFacts, version: str, count: int, seed: int) -> tuple[int, int, list[str]]:
    timeline, parser = Timeline(facts), facts.parser(version)
    maker = Maker(facts.entries(version), seed)
    yes = no = 0
    wrong = []
    for _ in range(count):
        argv = maker.argv()
        ok = accepted(parser, argv)
        yes, no = yes + ok, no + (not ok)
        found = judge_launch(launch_of(argv), version, timeline, strict=True)
        starts = [raw for raw in found if raw.level == "START"]
        if ok == bool(starts):
            wrong.append(f"{version} accepted={ok} {argv} {[(s.code, s.flag) for s in starts]}")
    return yes, no, wrong


@pytest.fixture(scope="module")
def facts(shared: Path) -> OracleFacts:
    return OracleFacts(shared / "oracle")


@pytest.mark.oracle
def test_accepts_and_refuses_what_argparse_does(facts: OracleFacts) -> None:
    for seed, version in enumerate(facts.versions):
        yes, no, wrong = disagreements(facts, version, PER_VERSION // 10, seed)
        assert not wrong, wrong[:5]
        assert yes > 20 and no > 20, (version, yes, no)


@pytest.mark.oracle
@pytest.mark.slow
def test_accepts_and_refuses_what_argparse_does_at_length(facts: OracleFacts) -> None:
    for seed, version in enumerate(facts.versions):
        _, _, wrong = disagreements(facts, version, PER_VERSION, 1000 + seed)
        assert not wrong, wrong[:5]
