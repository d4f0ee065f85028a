"""The small models: same bytes every time, and weights that do what is said of them."""

import itertools
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

from indexer.validate.models import RECIPES, drafts, folder_digest, write_models
from indexer.validate.models.weights import (
    MARK,
    MASK,
    NEXT,
    SPECIAL,
    VOCAB,
    embeddings,
    successor_head,
    to_bfloat16,
)


def test_permutation_is_made_of_cycles() -> None:
    """Every token has one successor, and control tokens stay among themselves."""
    assert sorted(NEXT.tolist()) == list(range(VOCAB))
    assert set(NEXT[:SPECIAL].tolist()) == set(range(SPECIAL))
    assert all(NEXT[token] != token for token in range(SPECIAL, VOCAB))


def test_head_asks_for_the_successor() -> None:
    """The best token for an embedding alone is its successor, for every real token."""
    table, head = embeddings(512), successor_head(512)
    best = (table @ head.T).argmax(1)
    real = [token for token in range(VOCAB) if token != MASK]
    assert (best[real] == NEXT[real]).all()


def test_same_bytes_every_time(tmp_path: Path) -> None:
    """Two runs of the generator agree, file for file."""
    first = write_models(tmp_path / "a", ["draft-standalone", "gemma4"])
    second = write_models(tmp_path / "b", ["draft-standalone", "gemma4"])
    assert first == second
    assert first["gemma4"] == folder_digest(tmp_path / "a" / "gemma4")


def test_safetensors_file(models: Path) -> None:
    """The header's offsets tile the file."""
    data = (models / "dense-succ" / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    spans = sorted(entry["data_offsets"] for entry in header.values())
    assert spans[0][0] == 0 and spans[-1][1] == len(data) - 8 - size
    assert all(before[1] == after[0] for before, after in itertools.pairwise(spans))
    assert header["model.embed_tokens.weight"]["dtype"] == "BF16"


def test_bfloat16_rounds_to_even() -> None:
    """Ties go to the even neighbour; exact values stay."""
    exact = np.array([1.0, -2.5, 0.0], np.float32)
    assert (to_bfloat16(exact) == (exact.view(np.uint32) >> 16)).all()
    halfway = np.array([0x3F808000, 0x3F818000], np.uint32).view(np.float32)
    assert to_bfloat16(halfway).tolist() == [0x3F80, 0x3F82]


def test_markov_head_names_successors() -> None:
    """DSPARK's Markov head alone picks each successor, also against the masks' own proposal."""
    _, weights = drafts.dspark()
    assert weights is not None
    codes = weights.tensors["markov_head.markov_w1.weight"][0]
    after = weights.tensors["markov_head.markov_w2.weight"][0]
    scores = codes @ after.T
    assert (scores.argmax(1) == NEXT).all()
    second = np.sort(scores, 1)[:, -2]
    assert (scores.max(1) - second).min() > 512


def test_domino_projector_names_successors() -> None:
    """The GRU's state after a token, put through the projector, picks the token's successor."""
    _, weights = drafts.domino()
    assert weights is not None
    gates = weights.tensors["prefix_gru.weight_ih_l0"][0].reshape(3, 256, 512)
    real = np.array([token for token in range(VOCAB) if token != MASK])
    table = embeddings(512)[real]
    update = 1 / (1 + np.exp(-(table @ gates[1].T)))
    state = (1 - update) * np.tanh(table @ gates[2].T)
    taken = state @ weights.tensors["embed_proj.0.weight"][0][:, 512:].T
    scores = (taken / (1 + np.exp(-taken))) @ weights.tensors["embed_proj.2.weight"][0].T
    assert (scores.argmax(1) == NEXT[real]).all()
    assert (scores.max(1) - np.sort(scores, 1)[:, -2]).min() > 512


def test_mask_and_real_tokens_differ_in_the_mark() -> None:
    """A block drafter tells masks from real tokens by dimension 0."""
    table = embeddings(512)
    assert (table[:, 0] == MARK).sum() == VOCAB - 1
    assert table[MASK, 0] == -MARK


def test_extras(models: Path) -> None:
    """The files that flags point at are what their readers expect."""
    extras = models / "extras"
    assert len(json.loads((extras / "temperatures.json").read_text())["temperatures"]) == drafts.BLOCK
    assert all(isinstance(json.loads(line), str) for line in (extras / "corpus.jsonl").open())
    adapter = json.loads((extras / "uno-lora" / "adapter_config.json").read_text())
    assert adapter["r"] == adapter["lora_alpha"] and set(adapter["target_modules"]) > {"q_proj", "o_proj"}
    assert (extras / "uno-lora" / "adapter_model.safetensors").stat().st_size > 2**16
    with zipfile.ZipFile(extras / "hot-tokens.pt") as archive:
        assert "archive/data.pkl" in archive.namelist()
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist())


def test_recipes_are_named_consistently() -> None:
    """Drafts are named so; a target that walks says how right its own MTP layer is, if it has one."""
    assert all(recipe.draft == name.startswith("draft-") for name, recipe in RECIPES.items())
    assert all(recipe.right in (None, "all", "first") for recipe in RECIPES.values())
