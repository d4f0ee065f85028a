"""What a release makes of a launch whose model isn't told: the same question in several worlds.

A launch file seldom holds the model's configuration. What happens alike with a dense, a
mixture-of-experts and a hybrid model, on two generations of GPUs, doesn't depend on the model; what
differs is nobody's finding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.explain.explain import Explainer
from indexer.explain.explanation import Explanation
from indexer.explain.launches import Question
from indexer.extract.requirements import required_packages
from indexer.source.cache import cache_folder
from indexer.source.release import WheelTree
from indexer.source.wheels import cached_wheel

_LONG = 4 * 1024 * 1024
"""Position embeddings: no context length in a launch may be the reason of a refusal."""

_COMMON: dict[str, Any] = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "intermediate_size": 4096,
    "num_hidden_layers": 8,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "max_position_embeddings": _LONG,
    "torch_dtype": "bfloat16",
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
}
MODELS: dict[str, dict[str, Any]] = {
    "dense": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "head_dim": 128},
    "experts": {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "moe_intermediate_size": 1024,
        "n_shared_experts": 1,
        "n_routed_experts": 256,
        "num_experts_per_tok": 8,
        "n_group": 8,
        "topk_group": 4,
        "first_k_dense_replace": 3,
        "kv_lora_rank": 512,
        "q_lora_rank": 1536,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "num_nextn_predict_layers": 1,
    },
    "hybrid": {
        "architectures": ["Qwen3NextForCausalLM"],
        "model_type": "qwen3_next",
        "head_dim": 256,
        "full_attention_interval": 4,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 2,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "num_experts": 512,
        "num_experts_per_tok": 10,
    },
}
"""Configurations of our own making, one of each kind of model that the rules tell apart."""
WORLDS = (("dense", "H200"), ("experts", "H200"), ("hybrid", "H200"), ("dense", "B200"))


class Probes:
    """The worlds of one release, read from the cache only: nothing is ever fetched."""

    def __init__(self, version: str) -> None:
        wheel = cached_wheel("sglang", version)
        self.explainer = None
        if wheel is None:
            return
        tree = WheelTree(wheel, version)
        transformers = required_packages(tree).get("transformers")
        if transformers and cached_wheel("transformers", transformers) is not None:
            self.explainer = Explainer(tree)

    @property
    def available(self) -> bool:
        """False where the release or its transformers is not in the cache."""
        return self.explainer is not None

    def answers(self, argv: list[str], env: dict[str, str], placeholder: str) -> Iterator[Explanation]:
        """Yield the explanation of each world, one at a time; ``placeholder`` in ``argv`` stands for
        a model's place and is replaced by that of the world."""
        assert self.explainer is not None
        for model, gpu in WORLDS:
            folder = str(_folder(model))
            words = [folder if word == placeholder else word for word in argv]
            yield self.explainer.explain(Question(argv=words, model=folder, gpu=gpu, gpus=8, env=env))


def _folder(name: str) -> Path:
    """Return the folder of a made-up model, written on first use."""
    text = json.dumps(_COMMON | MODELS[name], indent=1, sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    folder = cache_folder("probes") / f"{name}-{digest}"
    target = folder / "config.json"
    if not target.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"config.{id(text)}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    return folder
