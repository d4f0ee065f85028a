"""Layers in the names and shapes of the checkpoints that SGLang's loaders read."""

from __future__ import annotations

from typing import Any

import numpy as np

from indexer.validate.models.weights import VOCAB, Weights, embeddings, successor_head

HEADS, KV_HEADS, HEAD_DIM = 4, 2, 128
"""Attention shape of every model here: the smallest that all of SGLang's kernels take."""

TOKENS = {"bos_token_id": 0, "eos_token_id": 1, "torch_dtype": "bfloat16", "vocab_size": VOCAB}
COMMON: dict[str, Any] = {
    **TOKENS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "hidden_act": "silu",
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "attention_bias": False,
    "rope_theta": 10000.0,
}


def embed_and_head(weights: Weights, hidden: int, signal: float) -> None:
    """Store embedding and head; ``signal`` is how loudly the head asks for the successor.

    At 1.0 every greedy step is the successor whatever the layers add. Well below 1 the layers'
    noise decides part of the steps, so the output depends on attention and recurrent state.
    """
    noise = 1.0 if signal < 1 else 0.05
    weights.put("model.embed_tokens.weight", embeddings(hidden))
    head = signal * successor_head(hidden) + noise * weights.normal((VOCAB, hidden))
    weights.put("lm_head.weight", head)


def attention(
    weights: Weights, prefix: str, hidden: int, gain: float, *, gated: bool = False, norm: float | None = None
) -> None:
    """Store a grouped-query attention; ``gated`` doubles the query for Qwen's output gate."""
    weights.linear(prefix + "q_proj.weight", HEADS * HEAD_DIM * (2 if gated else 1), hidden)
    weights.linear(prefix + "k_proj.weight", KV_HEADS * HEAD_DIM, hidden)
    weights.linear(prefix + "v_proj.weight", KV_HEADS * HEAD_DIM, hidden)
    weights.linear(prefix + "o_proj.weight", hidden, HEADS * HEAD_DIM, gain)
    if norm is not None:
        weights.fill(prefix + "q_norm.weight", (HEAD_DIM,), norm)
        weights.fill(prefix + "k_norm.weight", (HEAD_DIM,), norm)


def copying_values(weights: Weights, prefix: str, hidden: int, inputs: int, scale: float) -> None:
    """Store values and output so that attending to a token adds (a projection of) its input.

    ``inputs`` is the width the value projection reads; the first ``hidden`` of it are copied.
    """
    rank = KV_HEADS * HEAD_DIM
    basis = np.linalg.qr(weights.normal((hidden, rank)))[0].T
    values = np.zeros((rank, inputs), np.float32)
    values[:, :hidden] = basis
    groups = HEADS // KV_HEADS
    per_head = np.repeat(basis.reshape(KV_HEADS, HEAD_DIM, hidden), groups, axis=0) / groups
    weights.put(prefix + "v_proj.weight", values)
    weights.put(prefix + "o_proj.weight", scale * per_head.reshape(HEADS * HEAD_DIM, hidden).T)


def mlp(weights: Weights, prefix: str, hidden: int, width: int, gain: float) -> None:
    """Store a gated MLP."""
    weights.linear(prefix + "gate_proj.weight", width, hidden)
    weights.linear(prefix + "up_proj.weight", width, hidden)
    weights.linear(prefix + "down_proj.weight", hidden, width, gain)


def experts(weights: Weights, prefix: str, config: dict[str, Any], gain: float) -> None:
    """Store a mixture of experts with one gated shared expert."""
    hidden = config["hidden_size"]
    weights.linear(prefix + "gate.weight", config["num_experts"], hidden, 2.0)
    weights.linear(prefix + "shared_expert_gate.weight", 1, hidden)
    for index in range(config["num_experts"]):
        mlp(weights, f"{prefix}experts.{index}.", hidden, config["moe_intermediate_size"], gain)
    mlp(weights, prefix + "shared_expert.", hidden, config["shared_expert_intermediate_size"], gain)


def gated_delta_net(
    weights: Weights, prefix: str, config: dict[str, Any], gain: float, *, split: bool
) -> None:
    """Store a gated delta net; ``split`` keeps its input projections apart (Qwen3.5's layout)."""
    hidden, heads = config["hidden_size"], config["linear_num_value_heads"]
    keys = config["linear_num_key_heads"] * config["linear_key_head_dim"]
    values = heads * config["linear_value_head_dim"]
    if split:
        weights.linear(prefix + "in_proj_qkv.weight", 2 * keys + values, hidden)
        weights.linear(prefix + "in_proj_z.weight", values, hidden)
        weights.linear(prefix + "in_proj_b.weight", heads, hidden)
        weights.linear(prefix + "in_proj_a.weight", heads, hidden)
    else:
        weights.linear(prefix + "in_proj_qkvz.weight", 2 * keys + 2 * values, hidden)
        weights.linear(prefix + "in_proj_ba.weight", 2 * heads, hidden)
    kernel = config["linear_conv_kernel_dim"]
    weights.put(prefix + "conv1d.weight", 0.5 * weights.normal((2 * keys + values, 1, kernel)))
    weights.fill(prefix + "dt_bias", (heads,), -2.0)
    weights.put(prefix + "A_log", np.log(weights.random.uniform(0.5, 4, heads)), "F32")
    weights.fill(prefix + "norm.weight", (config["linear_value_head_dim"],), 1.0, "F32")
    weights.linear(prefix + "out_proj.weight", hidden, values, gain)


def mamba2(weights: Weights, prefix: str, config: dict[str, Any], gain: float) -> None:
    """Store a Mamba2 mixer in Falcon-H1's names."""
    hidden, heads, inner = config["hidden_size"], config["mamba_n_heads"], config["mamba_d_ssm"]
    channels = inner + 2 * config["mamba_n_groups"] * config["mamba_d_state"]
    weights.put(prefix + "A_log", np.log(weights.random.uniform(0.5, 4, heads)))
    weights.fill(prefix + "D", (heads,), 1.0)
    weights.fill(prefix + "dt_bias", (heads,), -2.0)
    weights.put(prefix + "conv1d.weight", 0.5 * weights.normal((channels, 1, config["mamba_d_conv"])))
    weights.fill(prefix + "conv1d.bias", (channels,), 0.0)
    weights.linear(prefix + "in_proj.weight", inner + channels + heads, hidden)
    weights.linear(prefix + "out_proj.weight", hidden, inner, gain)
