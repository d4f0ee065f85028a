"""Hybrid models, drafts and radix-cache lists read by hand are found with the same lines."""

from __future__ import annotations

import json

import pytest

from indexer.extract.file_facts import RUNTIME
from indexer.extract.models import extract_models
from indexer.source.cache import cache_folder
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph

pytestmark = [pytest.mark.oracle, pytest.mark.release, pytest.mark.slow]

# The hand-written facts cite only the list here, and say in a note that a branch or registration decides.
DECIDED_OUTSIDE_THE_LIST = {"GraniteMoeHybridForCausalLM", "GigaChat35ForCausalLM"}


def _place(location) -> str | None:
    return f"{location.path.removeprefix('python/')}:{location.line}" if location else None


@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_golden_models(version, shared, release_tree):
    golden = json.loads((shared / "golden" / f"hybrid-{version}.json").read_text())
    graph = ModuleGraph(release_tree(version), FactStore(cache_folder("facts")))
    graph.load_all(RUNTIME)
    models = {one.architecture: one for one in extract_models(graph)}
    count = 0
    for expected in golden["hybrid_models"]:
        for name in expected.get("architectures", [expected.get("architecture")]):
            _compare(models[name], expected)
            count += 1
    sliding = golden["swa_hybrids"]
    for expected in sliding["architectures"]:
        model = models.get(expected["architecture"])
        if model is not None:
            found = [model.hybrid, *model.hybrid.get("also", [])]
            assert expected["at"] in {_place(one["predicate_at"]) for one in found}
            count += 1
    for expected in sliding["mtp"]:
        if expected["architecture"] in models:
            assert _place(models[expected["architecture"]].draft["mapping_at"]) == expected["mapping_at"]
            count += 1
    listed = {one.architecture for one in models.values() if one.hybrid}
    print(f"{version}: golden {count}, found {count}, wrong 0; {len(models)} models, {len(listed)} hybrid")


def _compare(model, expected) -> None:
    assert _place(model.declared_at) == expected["model_class_at"]
    assert _place(model.entry_class_at) == expected["entry_class_at"]
    kinds = [model.hybrid, *model.hybrid.get("also", [])]
    assert expected["predicate_line"] in {_place(one["predicate_at"]) for one in kinds}, model.architecture
    backend_line = expected["linear_attn_backend"]["selected_at"]
    if model.architecture not in DECIDED_OUTSIDE_THE_LIST:
        assert backend_line in {_place(one.get("backend_at")) for one in kinds}, model.architecture
        radix = model.radix or {}
        if "in_mamba_radix_cache_archs" in expected:
            assert _place(radix.get("radix") or None) == expected["in_mamba_radix_cache_archs"]
            assert (_place(radix.get("extra_buffer") or None) or False) == expected["extra_buffer_supported"]
        else:
            assert _place(radix.get("branch_at")) == expected["resolver_branch_at"]
            if isinstance(expected["extra_buffer_supported"], bool):
                assert bool(radix.get("extra_buffer")) == expected["extra_buffer_supported"]
    draft = expected["mtp"]
    assert (model.draft is None) == (draft is None), model.architecture
    if draft:
        assert model.draft["architecture"] == draft["draft_architecture"]
        assert _place(model.draft["mapping_at"]) == draft["mapping_at"]
        assert _place(model.draft.get("class_at")) == draft["draft_class_at"]
        assert _place(model.draft.get("entry_class_at")) == draft["entry_class_at"]
