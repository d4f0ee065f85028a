"""Small files that some speculative flags point at: tables, maps and a corpus."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np

from indexer.validate.models import layers
from indexer.validate.models.drafts import BLOCK
from indexer.validate.models.targets import HIDDEN
from indexer.validate.models.weights import NEXT, SPECIAL, VOCAB, Weights

HOT_TOKENS = VOCAB // 2
"""Tokens an EAGLE draft may propose under ``hot-tokens.pt``."""


def write_extras(folder: Path) -> list[str]:
    """Write all of them into ``folder``; return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "adaptive.json", {"1": {"candidate_steps": [1, 3]}, "4": {"candidate_steps": [1]}})
    _write_json(folder / "adaptive-bad.json", {"candidate_steps": [1, 3]})
    _write_json(
        folder / "steps-per-second.json",
        {
            "sample_batch_tokens": [1, 8, 64],
            "sample_steps_per_sec": [400.0, 380.0, 300.0],
            "max_batch_tokens": 64,
        },
    )
    _write_json(folder / "temperatures.json", {"temperatures": [1.0] * BLOCK})
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in _corpus()), "utf-8")
    write_torch_list(folder / "hot-tokens.pt", list(range(HOT_TOKENS)))
    _write_adapter(folder / "uno-lora")
    return sorted(path.name for path in folder.iterdir())


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def _write_adapter(folder: Path, depth: int = 4, rank: int = 8) -> None:
    """Write a LoRA adapter for the dense target that changes nothing: its second factors are zero."""
    folder.mkdir(exist_ok=True)
    widths = {
        "q_proj": (layers.HEADS * layers.HEAD_DIM, HIDDEN),
        "k_proj": (layers.KV_HEADS * layers.HEAD_DIM, HIDDEN),
        "v_proj": (layers.KV_HEADS * layers.HEAD_DIM, HIDDEN),
        "o_proj": (HIDDEN, layers.HEADS * layers.HEAD_DIM),
    }
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": rank,
        "lora_alpha": rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": list(widths),
    }
    _write_json(folder / "adapter_config.json", config)
    weights = Weights(26)
    for index in range(depth):
        for name, (outputs, inputs) in widths.items():
            prefix = f"base_model.model.model.layers.{index}.self_attn.{name}."
            weights.linear(prefix + "lora_A.weight", rank, inputs)
            weights.fill(prefix + "lora_B.weight", (outputs, rank), 0.0)
    weights.save(folder / "adapter_model.safetensors")


def _corpus(lines: int = 40, length: int = 60) -> list[str]:
    """Return walks of the successor permutation, as the models' own tokenizer reads them."""
    walks = []
    for start in np.random.default_rng(5).integers(SPECIAL, VOCAB, lines):
        walk = [int(start)]
        while len(walk) < length:
            walk.append(int(NEXT[walk[-1]]))
        walks.append(" ".join(f"t{token}" for token in walk))
    return walks


def write_torch_list(path: Path, values: list[int]) -> None:
    """Write a list of integers as ``torch.save`` would, without torch."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in (
            ("data.pkl", pickle.dumps(values, protocol=2)),
            ("byteorder", b"little"),
            ("version", b"3\n"),
        ):
            archive.writestr(zipfile.ZipInfo(f"archive/{name}"), data)
