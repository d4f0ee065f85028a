"""Conflicts from shipped facts: refused and overridden only where any model and GPU agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indexer.drift.check import Checker
from indexer.drift.launch.model import FileLaunches, Launch, Word
from indexer.drift.lint.algorithms import UnknownAlgorithm
from indexer.drift.lint.certain import CertainConflicts
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.knowledge.history import load_history
from indexer.knowledge.rehearsal import load_rehearsals
from tests.oracle_resolve import DISREGARDED, names, open_oracle

SERVER = "python -m sglang.launch_server --model-path m "


@pytest.fixture(scope="module")
def conflicts() -> CertainConflicts:
    return CertainConflicts(Timeline(HistoryFacts(load_history())), load_rehearsals())


def findings(conflicts: CertainConflicts, version: str, text: str) -> list[tuple[str, str, str | None]]:
    always = [UnknownAlgorithm(conflicts.timeline, lambda: conflicts.rehearsals)]
    checker = Checker(conflicts.timeline, [version], version, [conflicts], always)
    found = checker.check_text(text + "\n", "shell", "x.sh").findings
    return [(one.code, one.level, one.flag) for one in found if one.level != "HINT"]


@pytest.mark.parametrize(
    ("version", "options", "code", "flag"),
    [
        # b07: steps without top-k; b19: draft tokens without steps; b14; b15; b21; d08; d12 of the cases.
        (
            "0.5.23",
            "--speculative-algorithm EAGLE3 --speculative-num-steps 3",
            "refused",
            "--speculative-algorithm",
        ),
        (
            "0.5.2",
            "--speculative-algorithm NEXTN --speculative-num-draft-tokens 3",
            "refused",
            "--speculative-num-draft-tokens",
        ),
        ("0.5.15", "--pp-size 2 --speculative-algorithm EAGLE", "refused", "--speculative-algorithm"),
        (
            "0.5.18",
            "--disaggregation-mode decode --disaggregation-decode-enable-radix-cache "
            "--speculative-algorithm EAGLE",
            "refused",
            "--speculative-algorithm",
        ),
        ("0.5.23", "--speculative-algorithm MEDUSA", "invalid-choice", "--speculative-algorithm"),
        (
            "0.5.23",
            "--port $PORT --speculative-algorithm MEDUSA",
            "invalid-choice",
            "--speculative-algorithm",
        ),
        (
            "0.5.12",
            "--enable-mixed-chunk --speculative-algorithm EAGLE",
            "overridden",
            "--enable-mixed-chunk",
        ),
        (
            "0.5.15",
            "--speculative-algorithm EAGLE --speculative-num-steps 1 --speculative-eagle-topk 1 "
            "--speculative-num-draft-tokens 3",
            "overridden",
            "--speculative-num-draft-tokens",
        ),
        (
            "0.5.9",
            "--tp 8 --dp 8 --enable-dp-attention --speculative-algorithm NGRAM",
            "refused",
            "--enable-dp-attention",
        ),
        ("0.5.9", "--enable-hierarchical-cache --disable-radix-cache", "refused", "--disable-radix-cache"),
        ("0.5.9", "--tp 8 --dp 3 --enable-dp-attention", "refused", "--tp"),
        ("0.5.17", "--tp 4 --dp 3 --enable-dp-attention", "refused", "--tp"),
        ("0.5.21", "--tp 4 --dp 3 --enable-dp-attention", "refused", "--tp"),
        ("0.5.23", "--tp 4 --dp 3 --enable-dp-attention", "refused", "--tp"),
        ("0.5.23", "--tp 4 --attn-dp-size 3", "refused", "--tp"),
        # a model may switch off the radix cache that is off already
        ("0.5.23", "--enable-hierarchical-cache --disable-radix-cache", "refused", "--disable-radix-cache"),
        # one value that isn't told decides nothing here
        (
            "0.5.15",
            '--tp "$TP" --pp-size 2 --speculative-algorithm EAGLE',
            "refused",
            "--speculative-algorithm",
        ),
        (
            "0.5.9",
            "--tp $TP --enable-hierarchical-cache --disable-radix-cache",
            "refused",
            "--disable-radix-cache",
        ),
    ],
)
def test_certain_conflicts(
    conflicts: CertainConflicts, version: str, options: str, code: str, flag: str
) -> None:
    level = "MEANING" if code == "overridden" else "START"
    assert findings(conflicts, version, SERVER + options) == [(code, level, flag)]


@pytest.mark.parametrize(
    "grown", ["cmd += ' --pp-size 2'", "cmd = f'{cmd} --pp-size 2'", "cmd = cmd + ' --pp-size 2'"]
)
@pytest.mark.parametrize(("condition", "codes"), [("if x:", []), ("with x:", ["refused"])])
def test_what_python_adds_under_a_condition_may_not_be_there(
    conflicts: CertainConflicts, grown: str, condition: str, codes: list[str]
) -> None:
    text = f"cmd = '{SERVER}--speculative-algorithm EAGLE'\n{condition}\n    {grown}\nos.system(cmd)\n"
    found = Checker(conflicts.timeline, ["0.5.15"], "0.5.15", [conflicts]).check_text(text, "python", "x.py")
    assert found.launches == 1 and [one.code for one in found.findings] == codes


def test_a_value_that_branches_choose_decides_nothing(conflicts: CertainConflicts) -> None:
    script = """case $GPU in
h100) TP=8 MORE="--page-size 64";;
*) TP=4;;
esac
"""
    refused = "--enable-hierarchical-cache --disable-radix-cache"
    assert findings(conflicts, "0.5.9", script + SERVER + f"--tp $TP {refused}")[0][0] == "refused"
    assert findings(conflicts, "0.5.9", script + SERVER + "--tp $TP --dp-size 3 --enable-dp-attention") == []
    assert findings(conflicts, "0.5.9", script + SERVER + f"$MORE {refused}") == []


def test_what_a_field_was_set_to_before_it_is_asked_for_is_told(conflicts: CertainConflicts) -> None:
    checker = Checker(conflicts.timeline, ["0.5.23"], "0.5.23", [conflicts])
    text = SERVER + "--tp-size 4 --data-parallel-size 3 --enable-dp-attention\n"
    told = [
        one.message for one in checker.check_text(text, "shell", "x.sh").findings if one.code == "refused"
    ]
    assert told == [
        "SGLang 0.5.23 refuses --tp-size 4: AssertionError, it requires tp_size % attn_dp_size == 0, "
        "with attn_dp_size 3 by then"
    ]


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("0.5.23", SERVER + "--speculative-algorithm NEXTN"),
        ("0.5.14", SERVER + "--speculative-algorithm NEXTN --speculative-draft-model-path d"),
        # the model decides: a radix cache of another kind, a backend of its own
        ("0.5.10", SERVER + "--mamba-scheduler-strategy extra_buffer --disable-radix-cache"),
        ("0.5.23", SERVER + "--attention-backend fa3 --page-size 64 --tp 8"),
        # moved to other fields, by a deprecated spelling
        ("0.5.23", SERVER + "--tp 8 --dp 8 --enable-dp-attention"),
        # not told whole
        ("0.5.15", SERVER + "--pp-size 2 --speculative-algorithm EAGLE $MORE"),
        ("0.5.15", SERVER + "--pp-size 2 --speculative-algorithm $ALGORITHM"),
        ("0.5.15", SERVER + "--pp-size 2 --speculative-algorithm EAGLE --cuda-graph-bs $SIZES"),
        ("0.5.15", SERVER + "--pp-size $PP --speculative-algorithm EAGLE"),
        ("0.5.15", 'if [ "$X" ]; then M="--pp-size 2"; fi\n' + SERVER + "--speculative-algorithm EAGLE $M"),
        (
            "0.5.15",
            SERVER
            + "--pp-size 2 \\\n{% if x %}\n  --speculative-algorithm EAGLE \\\n{% endif %}\n  --port 1",
        ),
        ("0.5.15", '[ "$X" ] && M=(--pp-size 2)\n' + SERVER + '--speculative-algorithm EAGLE "${M[@]}"'),
        ("0.5.23", SERVER + "--tp $TP --attn-dp-size 3"),
        ("0.5.15", SERVER + "--pp-size 2 --speculative-algorithm EAGLE --config more.yaml"),
        (
            "0.5.15",
            "python -m sglang.bench_one_batch --model-path m --pp-size 2 --speculative-algorithm EAGLE",
        ),
    ],
)
def test_what_may_depend_on_anything_else_is_not_told(
    conflicts: CertainConflicts, version: str, text: str
) -> None:
    assert findings(conflicts, version, text) == []


def test_a_model_that_may_be_a_special_case_is_left_alone(conflicts: CertainConflicts) -> None:
    options = "--speculative-algorithm EAGLE --speculative-num-draft-tokens 3"
    launch = "python -m sglang.launch_server --model-path {} " + options
    assert findings(conflicts, "0.5.23", launch.format("Qwen/Qwen3-8B"))[0][0] == "refused"
    assert findings(conflicts, "0.5.23", launch.format("org/IQuest-Q1-40B")) == []


def test_a_name_that_rules_special_cases_out_is_no_reason_to_be_silent(conflicts: CertainConflicts) -> None:
    numbers = "--speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 1"
    launch = f"python -m sglang.launch_server --model-path {{}} --speculative-algorithm EAGLE {numbers}"
    expected = [("overridden", "MEANING", "--speculative-num-draft-tokens")]
    for model in ("deepseek-ai/DeepSeek-V3", "zai-org/GLM-4.6", "org/other"):
        for version in ("0.5.20", "0.5.21", "0.5.23"):
            assert findings(conflicts, version, launch.format(model)) == expected, (model, version)


def test_what_python_can_not_compare_is_told_where_it_is_compared(conflicts: CertainConflicts) -> None:
    # What the real resolvers said: TypeError, '>' not supported between instances of 'NoneType' and 'int'.
    argv = ["--model-path", "m", "--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "3"]
    places = {
        version: [raw.at for raw in conflicts(_launch(argv), FileLaunches(), version)]
        for version in ("0.5.17", "0.5.23")
    }
    assert places == {
        "0.5.17": ["python/sglang/srt/arg_groups/speculative_hook.py:673"],
        "0.5.23": ["python/sglang/srt/arg_groups/speculative_hook.py:1274"],
    }


@pytest.mark.oracle
def test_never_against_what_the_real_resolver_did(conflicts: CertainConflicts, shared: Path) -> None:
    told = 0
    unknown = UnknownAlgorithm(conflicts.timeline, lambda: conflicts.rehearsals)
    for name in names(shared):
        oracle = open_oracle(shared, name, step=7)
        for case in oracle.cases:
            if case.get("stage") == "parse" or any(one in str(case.get("exception")) for one in DISREGARDED):
                continue
            starts = case["ok"] and case.get("check_server_args", "ok") == "ok"
            launch = _launch(case["argv"])
            raws = [
                raw for one in (unknown, conflicts) for raw in one(launch, FileLaunches(), oracle.version)
            ]
            for raw in raws:
                told += 1
                if raw.code != "overridden":
                    assert not starts, (name, case["id"], raw.message)
                    crash = case.get("exception") or {}
                    if crash.get("class") == "TypeError":
                        assert raw.at == f"python/{crash['raised_at']}", (name, case["id"], raw.message)
                elif starts:
                    assert _really_becomes(raw, case, conflicts.timeline.table(oracle.version)), (
                        name,
                        case["id"],
                    )
    assert told > 80


def _launch(argv: list[str]) -> Launch:
    words, at = [], 0
    for text in argv:
        words.append(Word(text.replace("{M}", "/m"), at, at + len(text)))
        at += len(text) + 1
    return Launch(program="server", words=words)


def _really_becomes(raw: Any, case: dict[str, Any], table: Any) -> bool:
    changed = case["changed_by_resolver"].get(table.by_option[raw.flag].dest)
    if changed is None:
        return False
    return raw.replacement is None or raw.replacement.endswith(f" {changed[1]}")
