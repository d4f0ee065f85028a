"""Architectures with their hybrid kind, draft, radix-cache support, told from the shapes of the tree."""

from __future__ import annotations

import pytest

from indexer.extract.models import extract_models
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

FILES = {
    "configs/river": """
class RiverConfig(PretrainedConfig):
    model_type = "river"
class LakeTextConfig(RiverConfig): ...
class LakeConfig(PretrainedConfig):
    sub_configs = {"text_config": LakeTextConfig}
class StoneConfig(PretrainedConfig): ...
class CloudConfig(PretrainedConfig):
    model_type = "cloud"
""",
    "configs/model_config": """
SLIDING = ("DuneForCausalLM",)
class ModelConfig:
    def _config_draft_model(self):
        is_draft_model = self.is_draft_model
        if is_draft_model and self.hf_config.architectures[0] in ["RiverForCausalLM", "LakeForVision"]:
            self.hf_config.architectures[0] = "RiverForCausalLMMTP"
        if is_draft_model and self.mode == "X" and self.hf_config.architectures[0] == "StoneForCausalLM":
            self.hf_config.architectures = ["StoneDraft"]
        elif is_draft_model and self.hf_config.architectures[0] == "StoneForCausalLM":
            self.hf_config.architectures[0] = "StoneForCausalLMMTP"
        if is_draft_model and isinstance(self.hf_text_config, CloudConfig):
            self.hf_config.architectures[0] = self.hf_text_config.draft_name()
def is_hybrid_swa_model(archs):
    swa = {"GravelForCausalLM", *SLIDING}
    return any(arch in swa for arch in archs)
""",
    "configs/hybrid_arch": """
from sglang.srt.configs.river import LakeConfig, RiverConfig, StoneConfig
def gdn_config(model_config):
    config = model_config.hf_config.get_text_config()
    if isinstance(
        config,
        RiverConfig
        | LakeConfig,
    ):
        return config
    return None
def mamba_config(model_config):
    config = model_config.hf_config
    if isinstance(config, StoneConfig) and config.deep:
        return config
    return None
def cloud_config(model_config):
    if getattr(model_config.hf_config, "model_type", None) == "cloud":
        return model_config.hf_config
    return None
def mambaish_config(model_config):
    return gdn_config(model_config) or mamba_config(model_config) or cloud_config(model_config)
""",
    "layers/attention/registry": """
def attn_backend_wrapper(runner, full):
    if cfg := mambaish_config(runner.model_config):
        if gdn_config(runner.model_config) is not None:
            if is_blackwell():
                assert runner.backend in {"triton"}, "no"
            linear_attn_backend = GDNAttnBackend(runner)
        elif mamba_config(runner.model_config) is not None:
            if _is_npu:
                linear_attn_backend = OtherAttnBackend(runner)
            else:
                linear_attn_backend = Mamba2AttnBackend(runner)
        else:
            linear_attn_backend = KDAAttnBackend(runner)
    return full
""",
    "arg_groups/overrides": """
_MAMBA_RADIX_CACHE_ARCHS = frozenset({
    "RiverForCausalLM",
    "StoneForCausalLM",
})
def supports_mamba_cache_extra_buffer(view, hf_config):
    return hf_config.architectures[0] in ["RiverForCausalLM"]
def _mamba_radix_cache_resolution(view):
    model_arch = view.arch
    in_branch = model_arch in _MAMBA_RADIX_CACHE_ARCHS
def mamba_extra_buffer_of(cfg):
    return cfg.disable_radix_cache is False and cfg.mamba_radix_cache_strategy in (
        "extra_buffer",
        "extra_buffer_lazy",
    )
""",
    "models/river": """
class RiverForCausalLM:
    def __init__(self, config: RiverConfig, quant=None): ...
class RiverForCausalLMMTP(RiverForCausalLM): ...
EntryClass = [
    RiverForCausalLM,  # not OtherForCausalLM
    RiverForCausalLMMTP,
]
""",
    "models/others": """
from sglang.srt.models.river import RiverForCausalLM
class LakeForConditionalGeneration(RiverForCausalLM): ...
class StoneForCausalLM: ...
class CloudForCausalLM: ...
class GravelForCausalLM: ...
class DuneForCausalLM: ...
class PlainForCausalLM: ...
EntryClass = [LakeForConditionalGeneration, StoneForCausalLM, CloudForCausalLM, GravelForCausalLM,
              DuneForCausalLM, PlainForCausalLM]
""",
    "server_args": "",
}


@pytest.fixture(scope="module")
def models():
    tree = MemoryTree({f"python/sglang/srt/{name}.py": source for name, source in FILES.items()})
    return {one.architecture: one for one in extract_models(ModuleGraph(tree))}


def test_architectures_with_their_lines(models):
    river = models["RiverForCausalLM"]
    assert (river.declared_at.line, river.entry_class_at.line, river.entry_class_at.end_line) == (2, 5, 8)
    assert "OtherForCausalLM" not in models
    assert [name for name, one in models.items() if one.is_draft] == ["RiverForCausalLMMTP"]


@pytest.mark.parametrize(
    ("architecture", "kind", "predicate", "line", "condition"),
    [
        ("RiverForCausalLM", "GDN", "gdn_config", 7, None),
        ("LakeForConditionalGeneration", "GDN", "gdn_config", 8, None),
        ("StoneForCausalLM", "Mamba2", "mamba_config", 14, "config.deep"),
        ("CloudForCausalLM", "KDA", "cloud_config", 18, None),
        ("GravelForCausalLM", "sliding window", "is_hybrid_swa_model", 15, None),
        ("DuneForCausalLM", "sliding window", "is_hybrid_swa_model", 2, None),
    ],
)
def test_hybrid_kind_and_the_line_that_decides(models, architecture, kind, predicate, line, condition):
    hybrid = models[architecture].hybrid
    assert (hybrid["kind"], hybrid["predicate"], hybrid["predicate_at"].line, hybrid.get("condition")) == (
        kind, predicate, line, condition,
    )  # fmt: skip


def test_what_is_not_hybrid_stays_so(models):
    assert models["PlainForCausalLM"].hybrid is None
    assert models["RiverForCausalLMMTP"].hybrid is None, "a draft layer keeps no recurrent state"


def test_backend_and_its_restrictions(models):
    hybrid = models["RiverForCausalLM"].hybrid
    assert (hybrid["backend"], hybrid["backend_at"].line) == ("GDNAttnBackend", 7)
    (restriction,) = models["RiverForCausalLM"].backends
    assert (restriction["requires"], restriction["condition"]) == (
        'runner.backend in {"triton"}',
        "is_blackwell()",
    )
    assert models["StoneForCausalLM"].hybrid["backend"] == "Mamba2AttnBackend"


def test_draft_mapping(models):
    draft = models["RiverForCausalLM"].draft
    assert (draft["architecture"], draft["mapping_at"].line, draft["class_at"].line) == (
        "RiverForCausalLMMTP", 7, 4,
    )  # fmt: skip
    stone = models["StoneForCausalLM"].draft
    assert (stone["architecture"], stone["condition"]) == ("StoneDraft", 'self.mode == "X"')
    (other,) = stone["also"]
    assert (other["architecture"], other["mapping_at"].line) == ("StoneForCausalLMMTP", 11)
    assert other["condition"] == 'self.mode != "X"'
    assert "draft_name" in models["CloudForCausalLM"].draft["architecture"].unknown
    assert models["PlainForCausalLM"].draft is None


def test_radix_cache_support(models):
    river, stone = models["RiverForCausalLM"].radix, models["StoneForCausalLM"].radix
    assert (river["radix"].line, river["extra_buffer"].line) == (3, 7)
    assert river["strategies"] == ["no_buffer", "extra_buffer", "extra_buffer_lazy"]
    assert river["strategies_at"].line == 13
    assert (stone["radix"].line, stone["extra_buffer"], stone["strategies"]) == (4, False, ["no_buffer"])
    assert models["PlainForCausalLM"].radix is None


EARLY = {
    "configs/model_config": """
def is_hybrid_model(model_architectures, ratio):
    if ratio is None:
        return None
    elif ratio > 0 and model_architectures[0] == "DuneForCausalLM":
        return ratio
""",
    "model_executor/model_runner": """
class ModelRunner:
    def backend(self, name):
        if name == "hybrid":
            linear_attn_backend = MambaAttnBackend(self)
            return Hybrid(self, linear_attn_backend)
    @property
    def is_hybrid_gdn(self):
        return self.model_config.hf_config.architectures[0] in [
            "RiverForCausalLM",
            "StoneForCausalLM",
        ]
""",
    "models/river": """
class GatedDeltaLayer: ...
class RiverForCausalLM: ...
EntryClass = RiverForCausalLM
""",
    "models/stone": """
from mixers import MambaMixer2
class StoneForCausalLM: ...
class DuneForCausalLM: ...
class Eagle3StoneForCausalLM: ...
EntryClass = [StoneForCausalLM, DuneForCausalLM, Eagle3StoneForCausalLM]
""",
    "server_args": "",
}


def test_hybrids_that_a_list_of_architectures_names():
    """Releases before configuration classes decided list the names; one backend runs every kind."""
    tree = MemoryTree({f"python/sglang/srt/{name}.py": source for name, source in EARLY.items()})
    models = {one.architecture: one for one in extract_models(ModuleGraph(tree))}
    river, stone, dune = (models[f"{name}ForCausalLM"].hybrid for name in ("River", "Stone", "Dune"))
    assert (river["kind"], river["predicate_at"].line, river["backend_at"].line) == ("GDN", 10, 5)
    assert (stone["kind"], stone["predicate_at"].line) == ("Mamba2", 11)
    assert (dune["kind"], dune["condition"], dune["predicate_at"].line) == ("sliding window", "ratio > 0", 5)
    assert models["Eagle3StoneForCausalLM"].is_draft
