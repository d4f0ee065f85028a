"""The models of launch records are what the shipped table says."""

from __future__ import annotations

from indexer._resources import data_path
from indexer.explain.report.evidence_part import _models
from indexer.validate.models.described import described
from indexer.validate.records import load
from indexer.validate.small_models import models_of, table


def test_the_table_says_what_the_recipes_make() -> None:
    shipped = table()
    for digest, model in described(["dsv3", "nemotron-h", "draft-gemma4", "draft-standalone"]).items():
        assert shipped[digest] == model


def test_every_launch_s_model_is_counted_and_its_size_told() -> None:
    records = load(data_path("evidence"))
    used = models_of(records)
    targets = [one for one in used if not one.is_draft]
    assert sum(one.launches for one in targets) == len(records)
    assert all(one.known and one.known.layers <= 8 for one in targets)
    assert {one.name: one.dummy == one.launches for one in targets}["dsv3"]
    gdn = next(one for one in targets if one.name == "gdn-succ")
    assert gdn.known and (gdn.known.layers, gdn.known.hidden_size) == (4, 512)
    assert gdn.dummy == 0 and gdn.known.walks


def test_a_model_that_is_in_no_table_is_not_described() -> None:
    records = [one for one in load(data_path("evidence")) if one.draft and one.draft.name == "draft-domino"]
    told = _models(models_of(records))
    assert "no trained checkpoint" in told
    assert "| `draft-domino` (draft) | domino | not recorded |" in told
    assert "| `dense-succ` | Qwen3ForCausalLM | 4 | 512 |" in told
