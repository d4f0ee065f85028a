"""Seeded tensors and the safetensors file, with numpy alone."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

VOCAB = 2048
CYCLE = 12
"""Length of the token cycles that a successor model walks: short, so that n-grams repeat too."""
SPECIAL = 16
"""Ids below this are control tokens and walk a cycle of their own."""
MASK = 3
"""The control token that block drafters (DFLASH, DSPARK) put in place of tokens to predict."""
MARK = 4.0
"""Value of hidden dimension 0 in every token's embedding (negative for MASK): lets a draft layer
tell real tokens from masks by one dot product."""


def permutation() -> np.ndarray:
    """Return ``next[token]``: a fixed permutation of the vocabulary made of short cycles."""
    order = np.arange(SPECIAL, VOCAB)
    np.random.default_rng(7).shuffle(order)
    following = np.arange(VOCAB)
    for start in range(0, len(order), CYCLE):
        cycle = order[start : start + CYCLE]
        following[cycle] = np.roll(cycle, -1)
    following[:SPECIAL] = np.roll(np.arange(SPECIAL), -1)
    return following


NEXT = permutation()


def embeddings(hidden: int) -> np.ndarray:
    """Return the token embeddings shared by targets and drafts of one hidden size."""
    table = np.random.default_rng(11).standard_normal((VOCAB, hidden), dtype=np.float32)
    table[:, 0] = MARK
    table[MASK] = 0
    table[MASK, 0] = -MARK
    return table


def successor_head(hidden: int) -> np.ndarray:
    """Return the output head whose best token, for the embedding of ``t``, is ``NEXT[t]``."""
    previous = np.empty(VOCAB, int)
    previous[NEXT] = np.arange(VOCAB)
    return embeddings(hidden)[previous]


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Round float32 to the nearest bfloat16 (ties to even), as its 16 bits."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class Weights:
    """Named tensors of one model, drawn from one seeded generator in a fixed order."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.tensors: dict[str, tuple[np.ndarray, str]] = {}

    def put(self, name: str, values: np.ndarray, dtype: str = "BF16") -> None:
        """Store ``values`` under ``name`` as ``BF16``, ``F32`` or ``I64``."""
        self.tensors[name] = (np.asarray(values, np.int64 if dtype == "I64" else np.float32), dtype)

    def fill(self, name: str, shape: tuple[int, ...], value: float, dtype: str = "BF16") -> None:
        """Store one constant."""
        self.put(name, np.full(shape, value, np.float32), dtype)

    def normal(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the generator's next standard normal values."""
        return self.random.standard_normal(shape, dtype=np.float32)

    def linear(self, name: str, outputs: int, inputs: int, gain: float = 1.0) -> None:
        """Store a random projection; with ``gain`` 1 it keeps the scale of its input."""
        self.put(name, self.normal((outputs, inputs)) * (gain / inputs**0.5))

    def save(self, path: Path) -> None:
        """Write the tensors as one safetensors file."""
        header: dict[str, object] = {}
        blobs, offset = [], 0
        for name in sorted(self.tensors):
            values, dtype = self.tensors[name]
            data = (to_bfloat16(values) if dtype == "BF16" else values).tobytes()
            header[name] = {
                "dtype": dtype,
                "shape": list(values.shape),
                "data_offsets": [offset, offset + len(data)],
            }
            blobs.append(data)
            offset += len(data)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with path.open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.writelines(blobs)
