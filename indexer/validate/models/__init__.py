"""Small models made from nothing: config, tokenizer and seeded weights whose behaviour is known.

A *successor* model's greedy output is a fixed walk over the vocabulary (``successor.json``), so its
output and its drafts' acceptance are known without a GPU. A *mixed* model's layers decide part of
the steps: drafts are wrong sometimes, so rejection and state rollback really happen.

Needs numpy and the standard library only: ``python -m indexer.validate.models FOLDER`` also runs on
a host that has nothing else of this project.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from indexer.validate.models import drafts, targets
from indexer.validate.models.extras import write_extras
from indexer.validate.models.layers import TOKENS
from indexer.validate.models.weights import NEXT, VOCAB

GENERATOR = 1
"""Raised whenever the bytes of any model change."""
EXTRAS = "extras"
"""The folder beside the models that holds the files some flags point at."""


class Recipe(NamedTuple):
    """How one model folder is made, and what is known about it.

    ``family`` groups targets in plans; ``walks`` says that greedy output is the successor walk.
    ``right`` says how much of its proposals (its MTP layer's, for a target) is right about a
    successor target: ``all`` of them, the ``first`` one of a block, or nobody knows (None).
    """

    make: Callable[[], targets.Model]
    family: str
    walks: bool = False
    draft: bool = False
    right: str | None = None


RECIPES: dict[str, Recipe] = {
    "gdn-succ": Recipe(
        lambda: targets.hybrid_gdn(1, 1.0, 0.5, "qwen3next"), "hybrid-gdn", walks=True, right="all"
    ),
    "gdn-mixed": Recipe(lambda: targets.hybrid_gdn(2, 0.3, 1.0, "qwen3next"), "hybrid-gdn"),
    "q35-succ": Recipe(
        lambda: targets.hybrid_gdn(3, 1.0, 0.5, "qwen35"), "hybrid-gdn-dense", walks=True, right="all"
    ),
    "q35-mixed": Recipe(lambda: targets.hybrid_gdn(13, 0.3, 1.0, "qwen35"), "hybrid-gdn-dense"),
    "dense-succ": Recipe(lambda: targets.dense(4, 1.0, 0.5), "dense", walks=True),
    "dense-mixed": Recipe(lambda: targets.dense(5, 0.3, 1.0), "dense"),
    "llama-succ": Recipe(lambda: targets.llama(8, 1.0, 0.5), "dense-llama", walks=True),
    "fh1-succ": Recipe(lambda: targets.falcon_h1(9, 1.0, 0.5), "hybrid-mamba2", walks=True),
    "nemotron-h": Recipe(targets.nemotron_h, "hybrid-mamba2-nemotron"),
    "dsv3": Recipe(targets.deepseek_v3, "mla"),
    "gemma4": Recipe(targets.gemma4, "sliding-window"),
    "draft-standalone": Recipe(drafts.standalone, "dense", walks=True, draft=True, right="all"),
    "draft-eagle": Recipe(drafts.eagle, "eagle", draft=True, right="all"),
    "draft-eagle3": Recipe(drafts.eagle3, "eagle3", draft=True, right="all"),
    "draft-dflash": Recipe(drafts.dflash, "dflash", draft=True, right="first"),
    "draft-domino": Recipe(drafts.domino, "domino", draft=True, right="all"),
    "draft-dspark": Recipe(drafts.dspark, "dspark", draft=True, right="all"),
    "draft-gemma4": Recipe(drafts.gemma4_assistant, "gemma4-assistant", draft=True),
}


def write_models(root: Path, names: Iterable[str] = ()) -> dict[str, str]:
    """Write the named model folders (default: all) and the extras below ``root``.

    Returns each folder's digest over its files.

    Raises:
        KeyError: a name is no recipe.
    """
    digests = {}
    for name in list(names) or RECIPES:
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        config, weights = RECIPES[name].make()
        _write(folder / "config.json", config)
        _write(folder / "generation_config.json", {"bos_token_id": 0, "eos_token_id": 1, "do_sample": False})
        _write(folder / "successor.json", {"next": NEXT.tolist(), "walks": RECIPES[name].walks})
        _write_tokenizer(folder)
        if weights:
            weights.save(folder / "model.safetensors")
        digests[name] = folder_digest(folder)
    write_extras(root / EXTRAS)
    return digests


def folder_digest(folder: Path) -> str:
    """Return the sha256 over the names and bytes of a folder's files."""
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def _write_tokenizer(folder: Path) -> None:
    """Write a word-level tokenizer that reads ``t17`` as token 17."""
    control = [
        {
            "id": index,
            "content": f"t{index}",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for index in (TOKENS["bos_token_id"], TOKENS["eos_token_id"], 2)
    ]
    model = {
        "type": "WordLevel",
        "vocab": {f"t{index}": index for index in range(VOCAB)},
        "unk_token": "t2",
    }
    _write(
        folder / "tokenizer.json",
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": control,
            "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": None,
            "decoder": None,
            "model": model,
        },
    )
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "t0",
            "eos_token": "t1",
            "unk_token": "t2",
            "pad_token": "t2",
            "model_max_length": 8192,
        },
    )
