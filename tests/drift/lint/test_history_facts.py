"""The lints over the shipped history: the same verdicts as over the real parsers, and the variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.drift.check import Checker
from indexer.drift.launch.model import Setting
from indexer.drift.lint.env_settings import judge_settings
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.history_facts import HistoryFacts
from indexer.drift.lint.judge import judge_launch
from indexer.drift.upgrade import UpgradeChecker
from indexer.knowledge.history import SHIPPED, load_history
from tests.drift.lint.test_argv_property import Maker, accepted, launch_of
from tests.drift.oracle_facts import OracleFacts

pytestmark = pytest.mark.skipif(not SHIPPED.is_file(), reason="no shipped history")


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return Timeline(HistoryFacts(load_history()))


@pytest.mark.oracle
def test_shipped_history_accepts_and_refuses_what_the_real_parsers_do(
    shared: Path, timeline: Timeline
) -> None:
    if not any(flag.deprecated and flag.deprecated.raises for flag in timeline.facts.flags_at("0.4.1")):
        pytest.skip("the shipped history doesn't tell yet which deprecated options are refused")
    oracle = OracleFacts(shared / "oracle")
    for seed, version in enumerate(oracle.versions):
        parser, maker = oracle.parser(version), Maker(oracle.entries(version), seed)
        for _ in range(100):
            argv = maker.argv()
            found = judge_launch(launch_of(argv), version, timeline, strict=True)
            starts = [raw.message for raw in found if raw.level == "START"]
            assert accepted(parser, argv) == (not starts), (version, argv, starts)


def test_variable_that_is_only_read_for_a_notice_is_stale(timeline: Timeline) -> None:
    setting = [Setting("SGLANG_ENABLE_SPEC_V2", "1", 0, 21)]
    if not timeline.facts.env_spans("SGLANG_ENABLE_SPEC_V2"):
        pytest.skip("the shipped history has no environment variables yet")
    stale = [v for v in timeline.versions if judge_settings(setting, v, timeline)]
    assert stale[0] == "0.5.14"
    assert stale[-1] == timeline.versions[-1]
    assert judge_settings([Setting("SGLANG_NEVER_WAS", "1", 0, 5)], "0.5.23", timeline) == []


def test_every_covered_version_has_options_and_fields(timeline: Timeline) -> None:
    for version in timeline.versions:
        table = timeline.table(version)
        assert "--model-path" in table.by_option, version
        assert "model_path" in timeline.facts.fields_at(version), version
        assert len(table.by_option) > 80, version
    spans = timeline.facts.option_spans
    for version in (timeline.versions[0], timeline.versions[-1]):
        at = timeline.position[version]
        living = {option for option, runs in spans.items() if any(a <= at <= b for a, b in runs)}
        declared = {o for flag in timeline.facts.flags_at(version) for o in flag.option_strings}
        assert living == declared


def test_releases_that_no_oracle_covers(timeline: Timeline) -> None:
    text = "python -m sglang.launch_server --model-path m --mamba-scheduler-strategy auto\n"
    codes = {
        version: {
            f.code for f in Checker(timeline, [version], version).check_text(text, "shell", "x").findings
        }
        for version in ("0.5.8", "0.5.16", "0.5.19", "0.5.22")
    }
    assert codes == {
        "0.5.8": set(),
        "0.5.16": {"deprecated-flag"},
        "0.5.19": {"deprecated-flag"},
        "0.5.22": {"renamed-flag"},
    }


@pytest.mark.parametrize(
    ("name", "version", "replacement"),
    [
        ("SGLANG_OPT_DEEPGEMM_MEGA_MOE_USE_FP4_ACTS", "0.5.23", "--enable-w4a4-mxfp4-megamoe"),
        ("SGLANG_SUPPORT_CUTLASS_BLOCK_FP8", "0.5.12", "--fp8-gemm-backend=cutlass"),
        ("SGLANG_NSA_FUSE_TOPK", "0.5.23", "SGLANG_DSA_FUSE_TOPK"),
        ("SGLANG_NPU_FUSED_MOE_MODE", "0.5.23", "--fuseep-mode"),
        ("SGL_DG_CACHE_DIR", "0.5.23", "SGLANG_DG_CACHE_DIR"),
        ("SGLANG_ENABLE_SPEC_V2", "0.5.23", None),
    ],
)
def test_what_a_release_says_to_use_instead_of_a_variable(
    timeline: Timeline, name: str, version: str, replacement: str | None
) -> None:
    (raw,) = judge_settings([Setting(name, "1", 0, len(name))], version, timeline)
    assert raw.level == "HINT" and raw.replacement == replacement
    assert replacement is None or (f"use {replacement}" in raw.message and raw.at is not None)


@pytest.mark.parametrize(
    ("name", "version", "found"),
    [
        # Not declared for two releases, but read for its value.
        ("SGLANG_DISABLE_OUTLINES_DISK_CACHE", "0.5.8", []),
        ("SGLANG_GC_LOG", "0.5.17", [("deprecated-flag", "HINT", "SGLANG_LOG_GC")]),
        ("SGLANG_GC_LOG", "0.5.21", [("stale-env", "HINT", "SGLANG_LOG_GC")]),
        ("SGLANG_ENABLE_CP_V2", "0.5.19", []),
        ("SGLANG_ENABLE_CP_V2", "0.5.23", [("stale-env", "HINT", None)]),
        # The old prefix is rewritten on import, whether the name was ever a setting or not.
        ("SGL_ENABLE_JIT_DEEPGEMM", "0.5.3", []),
        ("SGL_ENABLE_JIT_DEEPGEMM", "0.5.23", [("deprecated-flag", "HINT", "SGLANG_ENABLE_JIT_DEEPGEMM")]),
        ("SGL_CUDA_COREDUMP", "0.5.23", [("deprecated-flag", "HINT", "SGLANG_CUDA_COREDUMP")]),
        ("SGL_CUDA_COREDUMP", "0.5.2", []),
        ("SGL_HOST_IP", "0.5.23", [("deprecated-flag", "HINT", "SGLANG_HOST_IP")]),
        ("SGL_ENABLE_SPEC_V2", "0.5.23", []),
        (
            "SGLANG_ENABLE_EPLB_BALANCEDNESS_METRIC",
            "0.5.20",
            [("stale-env", "MEANING", "--expert-balancedness-report-mode")],
        ),
    ],
)
def test_what_setting_a_variable_still_does(
    timeline: Timeline, name: str, version: str, found: list[tuple[str, str, str | None]]
) -> None:
    raws = judge_settings([Setting(name, "1", 0, len(name))], version, timeline)
    assert [(raw.code, raw.level, raw.replacement) for raw in raws] == found


def test_a_name_that_another_variable_still_reads_is_no_stale_one(timeline: Timeline) -> None:
    (raw,) = judge_settings([Setting("SGLANG_NSA_FUSE_TOPK", "1", 0, 5)], "0.5.13", timeline)
    assert (raw.code, raw.replacement) == ("deprecated-flag", "SGLANG_DSA_FUSE_TOPK")


def test_an_upgrade_judges_variables_as_drift_does(timeline: Timeline) -> None:
    names = ["SGLANG_NPU_FUSED_MOE_MODE", "SGLANG_ENABLE_SPEC_V2", "SGLANG_CUTLASS_MOE"]
    text = "\n".join(f"export {name}=1" for name in names) + "\n"
    checker = UpgradeChecker(timeline, ("0.5.12", "0.5.23"))
    changes = timeline.facts.env_changes("0.5.12", "0.5.23")
    found = checker.check_text(text, "shell", "x.sh").findings
    assert [one.flag for one in found] == names
    for one in found:
        (change,) = changes[one.flag or ""]
        told = (one.level, one.message, one.replacement)
        assert told == (change.level, change.message, change.replacement) and one.level == "MEANING"
