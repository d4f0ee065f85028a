"""Target models: dense, hybrid GDN (Qwen3-Next, Qwen3.5) and hybrid Mamba2 (Falcon-H1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from indexer.validate.models import layers
from indexer.validate.models.weights import Weights

HIDDEN = 512
Model = tuple[dict[str, Any], Weights | None]
"""A config.json and its tensors; no tensors for a folder that only a resolver or a server with
``--load-format dummy`` reads."""


def dense(seed: int, signal: float, gain: float, *, depth: int = 4, hidden: int = HIDDEN) -> Model:
    """Return a small Qwen3."""
    config = {
        **layers.COMMON,
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": depth,
    }
    return config, _plain_stack(seed, signal, gain, depth, hidden, norm=1.0)


def llama(seed: int, signal: float, gain: float) -> Model:
    """Return a small Llama, deep enough that EAGLE3 reads three different layers of it."""
    config = {
        **layers.COMMON,
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": 2 * HIDDEN,
        "num_hidden_layers": 8,
    }
    return config, _plain_stack(seed, signal, gain, 8, HIDDEN, norm=None)


def _plain_stack(
    seed: int, signal: float, gain: float, depth: int, hidden: int, norm: float | None
) -> Weights:
    weights = Weights(seed)
    layers.embed_and_head(weights, hidden, signal)
    for index in range(depth):
        prefix = f"model.layers.{index}."
        weights.fill(prefix + "input_layernorm.weight", (hidden,), 1.0)
        weights.fill(prefix + "post_attention_layernorm.weight", (hidden,), 1.0)
        layers.attention(weights, prefix + "self_attn.", hidden, gain, norm=norm)
        layers.mlp(weights, prefix + "mlp.", hidden, 2 * hidden, gain)
    weights.fill("model.norm.weight", (hidden,), 1.0)
    return weights


def gdn_config(family: str) -> dict[str, Any]:
    """Return the config of a hybrid GDN target: three GDN layers, then full attention."""
    config = {
        **layers.COMMON,
        "hidden_size": HIDDEN,
        "intermediate_size": HIDDEN,
        "num_hidden_layers": 4,
        "partial_rotary_factor": 0.25,
        "full_attention_interval": 4,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_num_key_heads": 4,
        "linear_num_value_heads": 8,
    }
    if family == "qwen3next":
        return config | {
            "architectures": ["Qwen3NextForCausalLM"],
            "model_type": "qwen3_next",
            "decoder_sparse_step": 1,
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 128,
            "norm_topk_prob": True,
            "shared_expert_intermediate_size": 256,
            "mlp_only_layers": [],
        }
    return config | {
        "architectures": ["Qwen3_5ForCausalLM"],
        "model_type": "qwen3_5_text",
        "mtp_num_hidden_layers": 1,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
    }


def hybrid_gdn(seed: int, signal: float, gain: float, family: str) -> Model:
    """Return a hybrid GDN target with one MTP layer that passes the last token's embedding on."""
    config = gdn_config(family)
    sparse = family == "qwen3next"
    weights = Weights(seed)
    layers.embed_and_head(weights, HIDDEN, signal)

    def layer(prefix: str, full_attention: bool) -> None:
        # These families' norms add 1 to the stored weight.
        weights.fill(prefix + "input_layernorm.weight", (HIDDEN,), 0.0)
        weights.fill(prefix + "post_attention_layernorm.weight", (HIDDEN,), 0.0)
        if full_attention:
            layers.attention(weights, prefix + "self_attn.", HIDDEN, gain, gated=True, norm=0.0)
        else:
            layers.gated_delta_net(weights, prefix + "linear_attn.", config, gain, split=not sparse)
        if sparse:
            layers.experts(weights, prefix + "mlp.", config, gain)
        else:
            layers.mlp(weights, prefix + "mlp.", HIDDEN, config["intermediate_size"], gain)

    for index in range(4):
        layer(f"model.layers.{index}.", full_attention=index == 3)
    weights.fill("model.norm.weight", (HIDDEN,), 0.0)
    weights.put("mtp.fc.weight", np.concatenate([np.eye(HIDDEN), np.zeros((HIDDEN, HIDDEN))], 1))
    weights.fill("mtp.pre_fc_norm_embedding.weight", (HIDDEN,), 0.0)
    weights.fill("mtp.pre_fc_norm_hidden.weight", (HIDDEN,), 0.0)
    layer("mtp.layers.0.", full_attention=True)
    weights.fill("mtp.norm.weight", (HIDDEN,), 0.0)
    return config, weights


def falcon_h1(seed: int, signal: float, gain: float) -> Model:
    """Return a hybrid Mamba2 target: attention and a Mamba2 mixer side by side in every layer."""
    inner, heads = 1024, 16
    config = {
        **layers.COMMON,
        "architectures": ["FalconH1ForCausalLM"],
        "model_type": "falcon_h1",
        "hidden_size": HIDDEN,
        "intermediate_size": 1024,
        "num_hidden_layers": 3,
        "mamba_d_ssm": inner,
        "mamba_n_heads": heads,
        "mamba_d_head": inner // heads,
        "mamba_n_groups": 1,
        "mamba_d_state": 128,
        "mamba_d_conv": 4,
        "mamba_expand": 2,
        "mamba_chunk_size": 256,
        "mamba_conv_bias": True,
        "mamba_proj_bias": False,
        "mamba_rms_norm": False,
        "mamba_norm_before_gate": False,
        "projectors_bias": False,
        "mlp_bias": False,
        "pad_token_id": 2,
    }
    weights = Weights(seed)
    layers.embed_and_head(weights, HIDDEN, signal)
    for index in range(3):
        prefix = f"model.layers.{index}."
        weights.fill(prefix + "input_layernorm.weight", (HIDDEN,), 1.0)
        weights.fill(prefix + "pre_ff_layernorm.weight", (HIDDEN,), 1.0)
        layers.mamba2(weights, prefix + "mamba.", config, gain)
        layers.attention(weights, prefix + "self_attn.", HIDDEN, gain)
        layers.mlp(weights, prefix + "feed_forward.", HIDDEN, 1024, gain)
    weights.fill("model.final_layernorm.weight", (HIDDEN,), 1.0)
    return config, weights


def nemotron_h() -> Model:
    """Return a NemotronH config (Mamba2 and attention layers), for ``--load-format dummy``."""
    config = {
        **layers.TOKENS,
        "architectures": ["NemotronHForCausalLM"],
        "model_type": "nemotron_h",
        "hidden_size": HIDDEN,
        "intermediate_size": 1024,
        "num_hidden_layers": 4,
        "hybrid_override_pattern": "M*M-",
        "num_attention_heads": layers.HEADS,
        "num_key_value_heads": layers.KV_HEADS,
        "head_dim": layers.HEAD_DIM,
        "attention_head_dim": layers.HEAD_DIM,
        "mamba_num_heads": 16,
        "mamba_head_dim": 64,
        "n_groups": 8,
        "ssm_state_size": 128,
        "conv_kernel": 4,
        "chunk_size": 256,
        "max_position_embeddings": 8192,
    }
    return config, None


def deepseek_v3() -> Model:
    """Return a DeepSeek-V3 config (MLA, one MTP layer), for ``--load-format dummy``."""
    config = {
        **layers.TOKENS,
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "hidden_size": HIDDEN,
        "intermediate_size": 1024,
        "moe_intermediate_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "n_shared_experts": 1,
        "n_routed_experts": 16,
        "num_experts_per_tok": 4,
        "n_group": 4,
        "topk_group": 2,
        "first_k_dense_replace": 1,
        "norm_topk_prob": True,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
        "moe_layer_freq": 1,
        "routed_scaling_factor": 2.5,
        "kv_lora_rank": 512,
        "q_lora_rank": 256,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "num_nextn_predict_layers": 1,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "rope_scaling": None,
        "hidden_act": "silu",
        "attention_bias": False,
        "tie_word_embeddings": False,
    }
    return config, None


def gemma4_text(depth: int = 6) -> dict[str, Any]:
    """Return the text config that the Gemma 4 target and its assistant share."""
    kinds = ["sliding_attention"] * (depth - 1) + ["full_attention"]
    return {
        **layers.TOKENS,
        "model_type": "gemma4_text",
        "hidden_size": HIDDEN,
        "intermediate_size": 1024,
        "num_hidden_layers": depth,
        "num_attention_heads": layers.HEADS,
        "num_key_value_heads": layers.KV_HEADS,
        "head_dim": layers.HEAD_DIM,
        "global_head_dim": layers.HEAD_DIM,
        "v_head_dim": layers.HEAD_DIM,
        "swa_num_key_value_heads": layers.KV_HEADS,
        "swa_head_dim": layers.HEAD_DIM,
        "swa_v_head_dim": layers.HEAD_DIM,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-6,
        "sliding_window": 512,
        "layer_types": kinds,
        "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0,
        "num_kv_shared_layers": 0,
        "tie_word_embeddings": True,
    }


def gemma4() -> Model:
    """Return a Gemma 4 text config, for ``--load-format dummy``."""
    return {**gemma4_text(), "architectures": ["Gemma4ForCausalLM"]}, None
