"""``show model`` says on one screen what a report written by hand says of Qwen3.5."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from indexer.cli.show import command

pytestmark = [pytest.mark.release, pytest.mark.slow]

# Section 2 of the report: kind, draft, worker, alias, automatic values, strategy, memory, path.
TOLD = (
    "configs/hybrid_arch.py:61", "attention_registry.py:485", "model_config.py:1179",
    "models/qwen3_5_mtp.py:94", "eagle_worker_v2.py:1297", "speculative_hook.py:116",
    "speculative_hook.py:1090", "overrides.py:483", "overrides.py:377, :407", "extra_buffer_lazy",
    "kv_cache_configurator.py:3062", "configs/mamba_utils.py:116", "memory_pool.py:638",
    "gdn_backend.py:948", "hybrid_linear_attn_backend.py:1514", "eagle_worker_v2.py:1416",
    "model_overrides/qwen3_5.py:46", "attention_registry.py:473",
)  # fmt: skip


def test_qwen3_5_on_one_screen(release_tree, monkeypatch) -> None:
    release_tree("0.5.23")
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["model", "Qwen3_5MoeForConditionalGeneration", "--version", "0.5.23"]
    said = CliRunner().invoke(command, arguments).output
    assert [one for one in TOLD if one not in said] == []
    assert len(said.splitlines()) <= 44
    assert max(map(len, said.splitlines())) <= 80
