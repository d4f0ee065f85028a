"""Draft models whose proposals are known: how many tokens a verify step accepts follows from them."""

from __future__ import annotations

import numpy as np

from indexer.validate.models import layers, targets
from indexer.validate.models.targets import HIDDEN, Model
from indexer.validate.models.weights import MARK, MASK, NEXT, VOCAB, Weights, embeddings

BLOCK = 8
"""Tokens of a DFLASH or DSPARK block."""
TARGET_LAYERS = [1, 2]
"""Target layers whose hidden states DFLASH and DSPARK drafts read."""


def standalone() -> Model:
    """Return a smaller successor model: always right for a successor target."""
    return targets.dense(6, 1.0, 0.5, depth=1, hidden=256)


def _layer(weights: Weights, prefix: str, gain: float) -> None:
    weights.fill(prefix + "post_attention_layernorm.weight", (HIDDEN,), 1.0)
    layers.attention(weights, prefix + "self_attn.", HIDDEN, gain)
    layers.mlp(weights, prefix + "mlp.", HIDDEN, 2 * HIDDEN, gain)


def eagle() -> Model:
    """Return an EAGLE head that passes the last token's embedding to the target's head: always right."""
    config = {
        **layers.COMMON,
        "architectures": ["LlamaForCausalLMEagle"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": 2 * HIDDEN,
        "num_hidden_layers": 1,
    }
    weights = Weights(21)
    weights.put("fc.weight", np.concatenate([np.eye(HIDDEN), np.zeros((HIDDEN, HIDDEN))], 1))
    weights.fill("fc.bias", (HIDDEN,), 0.0)
    _layer(weights, "layers.0.", 0.2)
    return config, weights


def eagle3() -> Model:
    """Return an EAGLE3 head: its attention finds the last token by itself and copies its embedding.

    Queries and keys are one random projection of the embedding, so a token's best match is itself;
    the target's hidden states are ignored (``fc`` is zero), and the output norm is small so that a
    draft step's carried state can't drown the next token. Always right for a successor target.
    """
    config = {
        **layers.COMMON,
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": 2 * HIDDEN,
        "num_hidden_layers": 1,
        "draft_vocab_size": VOCAB,
        "norm_output": True,
    }
    weights = Weights(22)
    width = 2 * HIDDEN
    match = np.zeros((layers.KV_HEADS, layers.HEAD_DIM, width), np.float32)
    match[:, :, :HIDDEN] = 2 * weights.normal((layers.KV_HEADS, layers.HEAD_DIM, HIDDEN)) / HIDDEN**0.5
    # The mark is the same in every token: it must not count as a match.
    match[:, :, 0] = 0
    queries = np.repeat(match, layers.HEADS // layers.KV_HEADS, axis=0)
    prefix = "midlayer."
    weights.put(prefix + "self_attn.q_proj.weight", queries.reshape(-1, width))
    weights.put(prefix + "self_attn.k_proj.weight", match.reshape(-1, width))
    layers.copying_values(weights, prefix + "self_attn.", HIDDEN, width, 2.0)
    layers.mlp(weights, prefix + "mlp.", HIDDEN, 2 * HIDDEN, 0.2)
    for norm in ("input_layernorm", "hidden_norm", "post_attention_layernorm"):
        weights.fill(f"{prefix}{norm}.weight", (HIDDEN,), 1.0)
    weights.fill("norm.weight", (HIDDEN,), 0.05)
    weights.fill("fc.weight", (HIDDEN, 3 * HIDDEN), 0.0)
    head = Weights(22)
    layers.embed_and_head(head, HIDDEN, 1.0)
    weights.put("lm_head.weight", head.tensors["lm_head.weight"][0])
    weights.put("d2t", np.zeros(VOCAB), "I64")
    return config, weights


def _block_draft(architecture: str, seed: int) -> tuple[dict[str, object], Weights]:
    """Return a block drafter in which every masked position copies the block's real token.

    Dimension 0 of the embeddings marks real tokens (MARK) and masks (-MARK); queries and keys read
    it alone and meet in the slowest rotary dimension, so masks attend to the real token wherever it
    stands. All masks then propose the successor of the last token: the first proposal is right, the
    others are not, and a verify step yields two tokens.
    """
    config = {
        **layers.COMMON,
        "architectures": [architecture],
        "model_type": "qwen3",
        "hidden_size": HIDDEN,
        "intermediate_size": 2 * HIDDEN,
        "num_hidden_layers": 1,
        "block_size": BLOCK,
        "num_target_layers": 4,
        "dflash_config": {"mask_token_id": MASK, "target_layer_ids": TARGET_LAYERS},
    }
    weights = Weights(seed)
    prefix = "layers.0.self_attn."
    slowest = layers.HEAD_DIM // 2 - 1
    for name, heads, sign in (("q_proj", layers.HEADS, -1.0), ("k_proj", layers.KV_HEADS, 1.0)):
        projection = np.zeros((heads, layers.HEAD_DIM, HIDDEN), np.float32)
        projection[:, slowest, 0] = sign / MARK
        weights.put(f"{prefix}{name}.weight", projection.reshape(-1, HIDDEN))
    layers.copying_values(weights, prefix, HIDDEN, HIDDEN, 2.0)
    weights.fill(prefix + "q_norm.weight", (layers.HEAD_DIM,), 2.0)
    weights.fill(prefix + "k_norm.weight", (layers.HEAD_DIM,), 2.0)
    layers.mlp(weights, "layers.0.mlp.", HIDDEN, 2 * HIDDEN, 0.2)
    for norm in ("layers.0.input_layernorm", "layers.0.post_attention_layernorm", "hidden_norm", "norm"):
        weights.fill(norm + ".weight", (HIDDEN,), 1.0)
    weights.fill("fc.weight", (HIDDEN, len(TARGET_LAYERS) * HIDDEN), 0.0)
    return config, weights


def dflash() -> Model:
    """Return a DFLASH draft: one right proposal a block, so two tokens a verify step."""
    return _block_draft("DFlashDraftModel", 23)


def dspark() -> Model:
    """Return a DSPARK draft: its Markov head alone names each successor, so whole blocks are right."""
    config, weights = _block_draft("DSparkDraftModel", 24)
    rank = 256
    config |= {
        "markov_rank": rank,
        "markov_head_type": "vanilla",
        "enable_confidence_head": True,
        "dspark_config": {
            "mask_token_id": MASK,
            "target_layer_ids": TARGET_LAYERS,
            "markov_rank": rank,
            "markov_head_type": "vanilla",
            "block_size": BLOCK,
        },
    }
    codes = weights.normal((VOCAB, rank)) / rank**0.5
    after = np.empty_like(codes)
    after[NEXT] = codes
    weights.put("markov_head.markov_w1.weight", codes)
    # Loud enough to outvote the masks' own proposal (the successor of the block's first token).
    weights.put("markov_head.markov_w2.weight", 2000.0 * after)
    weights.fill("confidence_head.proj.weight", (1, HIDDEN + rank), 0.0, "F32")
    weights.fill("confidence_head.proj.bias", (1,), 4.0, "F32")
    return config, weights


def domino() -> Model:
    """Return a DFLASH draft with a Domino projector that names each successor: whole blocks are right.

    The projector's GRU forgets at once (the mark of a real token closes its update gate), so its
    state is a code of the last token alone; SiLU of a code minus SiLU of its negative is the code
    itself, and the output matrix holds each token's predecessor's code.
    """
    config, weights = _block_draft("DFlashDraftModel", 25)
    width = 256
    block = config["dflash_config"]
    assert isinstance(block, dict)
    config["dflash_config"] = block | {
        "projector_type": "domino",
        "shift_label": False,
        "pure_draft_prefix_len": 1,
        "gru_hidden_dim": width,
        "emb_dim": 2 * width,
    }
    gates = np.zeros((3, width, HIDDEN), np.float32)
    gates[1, :, 0] = -20.0 / MARK
    gates[2] = weights.normal((width, HIDDEN)) / HIDDEN**0.5
    gates[2, :, 0] = 0
    weights.put("prefix_gru.weight_ih_l0", gates.reshape(3 * width, HIDDEN))
    weights.fill("prefix_gru.weight_hh_l0", (3 * width, width), 0.0)
    taken = np.zeros((2, width, HIDDEN + width), np.float32)
    taken[0, :, HIDDEN:], taken[1, :, HIDDEN:] = np.eye(width), -np.eye(width)
    weights.put("embed_proj.0.weight", taken.reshape(2 * width, HIDDEN + width))
    codes = np.tanh(embeddings(HIDDEN) @ gates[2].T)
    after = np.empty_like(codes)
    # Loud enough to outvote the masks' own proposal, as in DSPARK's draft.
    after[NEXT] = 20.0 * codes
    weights.put("embed_proj.2.weight", np.concatenate([after, -after], 1))
    return config, weights


def gemma4_assistant() -> Model:
    """Return a Gemma 4 assistant config (FROZEN_KV_MTP's draft), for a dummy draft load."""
    text = targets.gemma4_text(2) | {"num_kv_shared_layers": 2}
    return {
        **layers.TOKENS,
        "architectures": ["Gemma4AssistantForCausalLM"],
        "model_type": "gemma4_assistant",
        "text_config": text,
        "backbone_hidden_size": HIDDEN,
    }, None
