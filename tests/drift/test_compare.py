"""Every kind of change has a case here, and no case shows another kind (cross-talk)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indexer.drift.change import DOC, MEANING, RULES, START, Change
from indexer.drift.compare import compare
from indexer.knowledge.facts import AlgorithmFact, DeprecationFact, EnvFact, Facts, FlagFact
from indexer.knowledge.renames import find_renames
from indexer.knowledge.schema import Location
from tests.oracle_snapshot import oracle_history

AT = Location("python/sglang/a.py", 1)
UNKNOWN = {"unknown": "computed from the machine"}


def flag(*options: str, line: int = 1, **attributes: Any) -> FlagFact:
    name = options[0].lstrip("-")
    attributes.setdefault("dest", name.replace("-", "_"))
    at = Location("python/sglang/a.py", line)
    return FlagFact(name=name, option_strings=list(options), declared_at=at, **attributes)


def algorithm(name: str, *aliases: str) -> AlgorithmFact:
    return AlgorithmFact(name=name, aliases=list(aliases), declared_at=AT)


def env(name: str, **attributes: Any) -> EnvFact:
    declared = attributes.pop("declared", True)
    return EnvFact(
        name=name, declared_at=AT if declared else None, read_at=None if declared else AT, **attributes
    )


FLAG_CASES: dict[str, tuple[list[FlagFact], list[FlagFact], list[tuple[str, str]]]] = {
    "nothing": ([flag("--xa", default=1)], [flag("--xa", default=1)], []),
    "removed": ([flag("--xa")], [], [("flag-removed", "--xa is gone")]),
    "removed with a successor": (
        [flag("--xa", deprecated=DeprecationFact("--yb")), flag("--yb")],
        [flag("--yb")],
        [("flag-removed", "--xa is gone, use --yb")],
    ),
    "removed, its replacement too": (
        [flag("--xa", deprecated=DeprecationFact("--yb=1"))],
        [],
        [("flag-removed", "--xa is gone")],
    ),
    "removed, its replacement's value too": (
        [flag("--xa", deprecated=DeprecationFact("--yb=1")), flag("--yb", choices=["1", "2"])],
        [flag("--yb", choices=["2"])],
        [
            ("flag-removed", "--xa is gone"),
            ("choice-removed", "--yb: no longer takes 1 (takes 2)"),
        ],
    ),
    "split in two": (
        [flag("--max-bs")],
        [flag("--max-bs-decode", type="int"), flag("--max-bs-prefill", type="int")],
        [
            (
                "flag-ambiguous",
                "--max-bs is no longer declared and ambiguous: could match --max-bs-decode, --max-bs-prefill",
            ),
            (
                "abbreviation-ambiguous",
                "--m … --max-b meant --max-bs, now ambiguous: could match --max-bs-decode, --max-bs-prefill",
            ),
            ("flag-added", "--max-bs-decode is new"),
            ("flag-added", "--max-bs-prefill is new"),
        ],
    ),
    "now a prefix of its successor": (
        [flag("--xa", dest="d")],
        [flag("--xa-size", dest="d")],
        [
            ("flag-now-abbreviation", "--xa is no longer declared; argparse takes it as --xa-size"),
            ("flag-added", "--xa-size is new"),
        ],
    ),
    "now a prefix of another": (
        [flag("--xa", type="int")],
        [flag("--xa-size")],
        [
            (
                "flag-now-abbreviation",
                "--xa is no longer declared; argparse takes it as --xa-size, which is another setting",
            ),
            ("abbreviation-retargeted", "--x meant --xa, now means --xa-size"),
            ("flag-added", "--xa-size is new"),
        ],
    ),
    "abbreviation taken": (
        [flag("--tp-size")],
        [flag("--tp-size"), flag("--tp")],
        [
            ("abbreviation-retargeted", "--tp meant --tp-size, now means --tp"),
            ("flag-added", "--tp is new"),
            ("abbreviation-ambiguous", "--t meant --tp-size, now ambiguous: could match --tp, --tp-size"),
        ],
    ),
    "abbreviation becomes an alias": (
        [flag("--ep-size")],
        [flag("--ep-size", "--ep")],
        [
            ("abbreviation-ambiguous", "--e meant --ep-size, now ambiguous: could match --ep, --ep-size"),
            ("flag-alias-added", "--ep is a new spelling of --ep-size"),
        ],
    ),
    "required": ([flag("--xa")], [flag("--xa", required=True)], [("flag-required", "--xa: became required")]),
    "new and required": (
        [],
        [flag("--xa", required=True)],
        [("flag-required", "--xa is new and required"), ("flag-added", "--xa is new")],
    ),
    "deprecated": (
        [flag("--xa")],
        [flag("--xa", deprecated=DeprecationFact("--yb")), flag("--yb")],
        [("flag-deprecated", "--xa: deprecated, use --yb"), ("flag-added", "--yb is new")],
    ),
    "refused": (
        [flag("--xa")],
        [flag("--xa", deprecated=DeprecationFact(raises=True))],
        [("flag-refused", "--xa: deprecated, using it stops the start")],
    ),
    "value now needed": (
        [flag("--xa", action="_StoreTrueAction", nargs=0, const=True)],
        [flag("--xa", type="int")],
        [("flag-values", "--xa: took no value, takes one value")],
    ),
    "switch with an opposite": (
        [flag("--xa", action="_StoreTrueAction", nargs=0, const=True, default=False)],
        [flag("--xa", "--no-xa", action="BooleanOptionalAction", nargs=0, default=False)],
        [("flag-alias-added", "--no-xa is a new spelling of --xa")],
    ),
    "now a list": (
        [flag("--xa")],
        [flag("--xa", nargs="+")],
        [("flag-type", "--xa: a single value → a list")],
    ),
    "no longer a list": (
        [flag("--xa", nargs="+")],
        [flag("--xa")],
        [("flag-values", "--xa: took 1 or more values, takes one value")],
    ),
    "default": (
        [flag("--xa", default=0.9)],
        [flag("--xa", default=None)],
        [("flag-default", "--xa: default 0.9 → unset")],
    ),
    "default not known": (
        [flag("--xa", default=1)],
        [flag("--xa", default=UNKNOWN)],
        [("flag-not-comparable", "--xa: default 1 → unknown (computed from the machine)")],
    ),
    "default as unknown as before": ([flag("--xa", default=UNKNOWN)], [flag("--xa", default=UNKNOWN)], []),
    "fallback": (
        [flag("--xa", fallback=8)],
        [flag("--xa", fallback=16)],
        [("flag-fallback", "--xa: value when unset 8 → 16")],
    ),
    "const": (
        [flag("--xa", nargs="?", const="a")],
        [flag("--xa", nargs="?", const="b")],
        [("flag-const", "--xa: const a → b")],
    ),
    "type": ([flag("--xa", type="int")], [flag("--xa", type="str")], [("flag-type", "--xa: type int → str")]),
    "action": (
        [flag("--xa")],
        [flag("--xa", action="_AppendAction")],
        [("flag-action", "--xa: action _StoreAction → _AppendAction")],
    ),
    "dest": (
        [flag("--dp-size", dest="data_parallel_size")],
        [flag("--dp-size", dest="dp_size")],
        [("flag-dest", "--dp-size: dest data_parallel_size → dp_size")],
    ),
    "choices": (
        [flag("--xa", choices=["a", "b"])],
        [flag("--xa", choices=["b", "c"])],
        [
            ("choice-removed", "--xa: no longer takes a (takes b, c)"),
            ("choice-added", "--xa: also takes c"),
        ],
    ),
    "choices in another order": ([flag("--xa", choices=["a", "b"])], [flag("--xa", choices=["b", "a"])], []),
    "choices opened": (
        [flag("--xa", choices=["a"])],
        [flag("--xa")],
        [("choices-opened", "--xa: choices are no longer listed: any value passes argparse")],
    ),
    "choices closed": (
        [flag("--xa")],
        [flag("--xa", choices=["a"])],
        [("choice-removed", "--xa: now takes only a")],
    ),
    "help and line": (
        [flag("--xa", help="1")],
        [flag("--xa", help="2", line=2)],
        [("flag-help", "--xa: help text changed"), ("flag-moved", "--xa: declaration moved")],
    ),
}


@pytest.mark.parametrize("case", FLAG_CASES)
def test_flags(case: str) -> None:
    old, new, wanted = FLAG_CASES[case]
    before, after = Facts("1", flags=old), Facts("2", flags=new)
    found = compare(before, after, find_renames(before, after))
    assert sorted((one.code, one.message) for one in found) == sorted(wanted)
    assert [one.level for one in found] == sorted(
        (one.level for one in found), key=[START, MEANING, DOC].index
    )


OTHER_CASES: dict[str, tuple[Facts, Facts, list[tuple[str, str]]]] = {
    "algorithms": (
        Facts("1", algorithms=[algorithm("EAGLE", "NEXTN"), algorithm("LOOKAHEAD")]),
        Facts("2", algorithms=[algorithm("EAGLE", "MTP"), algorithm("NGRAM")]),
        [
            ("algorithm-removed", "LOOKAHEAD is gone"),
            ("algorithm-added", "NGRAM is new"),
            ("algorithm-alias-removed", "NEXTN (was EAGLE) is gone"),
            ("algorithm-alias-added", "MTP is a new spelling of EAGLE"),
        ],
    ),
    "algorithm becomes an alias": (
        Facts("1", algorithms=[algorithm("EAGLE"), algorithm("NEXTN")]),
        Facts("2", algorithms=[algorithm("EAGLE", "NEXTN")]),
        [("algorithm-alias-target", "NEXTN is no longer an algorithm of its own, it means EAGLE")],
    ),
    "variables": (
        Facts(
            "1",
            env_vars=[
                env("A", default=False),
                env("B", type="EnvInt"),
                env("C"),
                env("D"),
                env("E"),
                env("G", declared=False),
                env("H"),
                env("I"),
                env("J"),
                env("K", declared=False, notice="warning"),
            ],
        ),
        Facts(
            "2",
            env_vars=[
                env("A", default=True),
                env("B", type="EnvStr"),
                env("C", declared=False),
                env("E", deprecated=DeprecationFact("F")),
                env("F", default=1),
                env("H", declared=False, notice="warning"),
                env("I", declared=False, notice="error"),
                EnvFact(name="J", deprecated=DeprecationFact()),
                env("L", declared=False, notice="warning"),
            ],
        ),
        [
            ("env-default", "A: default False → True"),
            ("env-type", "B: type EnvInt → EnvStr"),
            ("env-undeclared", "C: no longer declared, only read at python/sglang/a.py:1"),
            ("env-removed", "D is gone: setting it has no effect"),
            ("env-deprecated", "E: deprecated, use F"),
            ("env-added", "F is new (default 1)"),
            (
                "env-removed",
                "H is gone: setting it has no effect; a warning says so (python/sglang/a.py:1)",
            ),
            ("env-removed", "I is gone; SGLang raises where it is set (python/sglang/a.py:1)"),
            ("env-removed", "J is gone: setting it has no effect"),
            ("env-unread", "G is no longer read by SGLang itself (a library may still read it)"),
        ],
    ),
    "variable under an old prefix": (
        Facts("0.5.2", env_vars=[env("SGL_A"), env("SGL_B", declared=False), env("SGL_C")]),
        Facts("0.5.23", env_vars=[env("SGLANG_A"), env("SGLANG_B", declared=False)]),
        [
            *(
                (
                    "env-deprecated",
                    f"SGL_{one}: deprecated, use SGLANG_{one}, which SGLang sets from it "
                    "(python/sglang/srt/environ.py:2305)",
                )
                for one in "AB"
            ),
            ("env-removed", "SGL_C is gone: setting it has no effect"),
            ("env-added", "SGLANG_A is new (default unset)"),
            ("env-added", "SGLANG_B is new"),
        ],
    ),
}


@pytest.mark.parametrize("case", OTHER_CASES)
def test_algorithms_and_variables(case: str) -> None:
    old, new, wanted = OTHER_CASES[case]
    found = compare(old, new, find_renames(old, new))
    assert sorted((one.code, one.message) for one in found) == sorted(wanted)


def test_every_rule_has_a_case() -> None:
    cases = [*FLAG_CASES.values(), *OTHER_CASES.values()]
    assert {code for _, _, wanted in cases for code, _ in wanted} == {
        code for code in RULES if not code.startswith("rule-")
    }


def test_fingerprint_ignores_lines_but_not_values() -> None:
    def changed(line: int, default: int) -> Change:
        old, new = (
            Facts("1", flags=[flag("--xa")]),
            Facts("2", flags=[flag("--xa", line=line, default=default)]),
        )
        return compare(old, new)[0]

    assert changed(5, 1).fingerprint == changed(9, 1).fingerprint
    assert changed(5, 1).fingerprint != changed(5, 2).fingerprint


@pytest.mark.oracle
class TestRealVersions:
    """The handed cases on what the real parsers say (their neighbours among the oracle's versions)."""

    def drift(self, shared: Path, old: str, new: str) -> dict[tuple[str, str], Change]:
        history = oracle_history(shared / "oracle")
        changes = compare(history.at(old), history.at(new), history.renames_between(old, new))
        return {(one.code, one.name): one for one in changes}

    def test_c08_split_flag_became_ambiguous(self, shared: Path) -> None:
        found = self.drift(shared, "0.5.18", "0.5.20")
        for stem in ("--cuda-graph-max-bs", "--cuda-graph-bs"):
            change = found["flag-ambiguous", stem]
            assert change.new == [f"{stem}-decode", f"{stem}-prefill"]
            assert change.replacement == f"{stem}-decode"
            assert change.level == START

    def test_c08_alias_is_only_deprecated_before(self, shared: Path) -> None:
        found = self.drift(shared, "0.5.13.post1", "0.5.14")
        assert found["flag-deprecated", "--cuda-graph-max-bs"].level == DOC
        assert ("flag-removed", "--cuda-graph-max-bs") not in found

    def test_c09_ngram_window_flags_vanished_without_successor(self, shared: Path) -> None:
        found = self.drift(shared, "0.5.9", "0.5.10")
        for name in ("min-match-window-size", "max-match-window-size", "branch-length"):
            change = found["flag-removed", f"--speculative-ngram-{name}"]
            assert change.replacement is None
        assert ("flag-added", "--speculative-ngram-max-trie-depth") in found

    def test_c12_dest_changed_while_the_flag_stayed(self, shared: Path) -> None:
        found = self.drift(shared, "0.5.13.post1", "0.5.14")
        change = found["flag-dest", "--data-parallel-size"]
        assert (change.old, change.new, change.level) == ("data_parallel_size", "dp_size", MEANING)

    def test_c13_flashinfer_mla_removed(self, shared: Path) -> None:
        found = self.drift(shared, "0.4.6.post5", "0.4.10.post2")
        assert ("flag-removed", "--enable-flashinfer-mla") in found

    def test_speculative_draft_became_ambiguous(self, shared: Path) -> None:
        history = oracle_history(shared / "oracle")
        changes = compare(history.at("0.4.10.post2"), history.at("0.5.2"))
        (change,) = [one for one in changes if "--speculative-draft" in (one.old or ())]
        assert (change.code, change.name) == ("abbreviation-ambiguous", "--speculative-draft-model-path")

    def test_going_back_turns_renames_round(self, shared: Path) -> None:
        found = self.drift(shared, "0.5.20", "0.5.12")
        change = found["flag-removed", "--mamba-radix-cache-strategy"]
        assert change.replacement == "--mamba-scheduler-strategy"

    def test_prefixes_are_those_of_the_real_parser(self, shared: Path) -> None:
        import json

        from indexer.drift.prefixes import PrefixTable

        history = oracle_history(shared / "oracle")
        for version in history.versions:
            said = json.loads((shared / "oracle" / f"flags-{version}.json").read_text())["prefix_forms"]
            table = PrefixTable(history.at(version))
            ours = {form: "exact" if form in table.flags else sorted(table.resolve(form)) for form in said}
            assert ours == {form: sorted(m) if isinstance(m, list) else m for form, m in said.items()}, (
                version
            )
