"""The report of a hybrid with MTP says what the one written by hand says, with its lines."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from indexer.cli.report import command

pytestmark = [pytest.mark.oracle, pytest.mark.release, pytest.mark.slow]

TOLD = (
    # flags, alias, automatic values, strategy
    "speculative_hook.py:59", "speculative_hook.py:541", "server_args.py:4676", "overrides.py:1499",
    "overrides.py:1414", "overrides.py:1436", "server_args.py:9117",
    # draft, worker
    "model_config.py:675", "qwen3_5_mtp.py:47", "model_config.py:550", "eagle_worker_v2.py:1006",
    # the backend that the server refuses, no_buffer, top-k with pages
    "attention_registry.py:411", "server_args.py:5577",
    # memory, code path
    "mamba_utils.py:116", "kv_cache_configurator.py:1659", "kv_cache_configurator.py:1816",
    "hybrid_linear_attn_backend.py:1183", "gdn_backend.py:470", "spec_utils.py:826",
)  # fmt: skip

ORDER = (3492, 3527, 3530, 3537, 3543, 3579, 3592, 3626)
"""Where the resolver calls its steps, as the report written by hand has them."""


def test_it_says_what_the_hand_written_report_says(shared, release_tree) -> None:
    release_tree("0.5.17")
    model = shared / "oracle" / "models" / "qwen3_5-moe"
    arguments = ["--version", "0.5.17", "--model", str(model), "--gpu", "RTX PRO 6000", "--gpus", "4"]
    told = CliRunner().invoke(command, [*arguments, "--weights", "40"]).output
    assert [one for one in TOLD if one not in told] == []
    assert "One slot is 1,609,728 bytes" in told
    assert "A running request takes 5 state slots" in told
    assert re.search(r"\| 41\.0 \| \d+ \| 0\.30 \| 48 \|", told), "81.0 GiB static, 40 of weights"
    variations = told.partition("## Variations")[2].partition("##")[0]
    assert variations.count("accepted by the resolver, refused at start") > 3
    assert "not checked after it" not in variations
    in_order = told.partition("## What the resolver does, in order")[2].partition("## Model")[0]
    lines = [f"server_args.py:{line} |" for line in ORDER]
    assert [in_order.find(line) for line in lines] == sorted(in_order.find(line) for line in lines)
    assert all(line in in_order for line in lines)
    assert "## Evidence" in told
    assert len(re.findall(r"sglang/[\w/]+\.py:\d+", told)) > 250
