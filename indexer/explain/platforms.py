"""Reading what a user says of a GPU, and which CUDA a PyTorch release brings."""

from __future__ import annotations

import re

from indexer.errors import UsageError
from indexer.interpret.gpus import GPUS
from indexer.interpret.launch import MIB, Gpu

_SM = re.compile(r"sm_?(\d+)(\d)(?::(\d+(?:\.\d+)?)(GiB|GB|MiB))?", re.IGNORECASE)
_UNITS = {"gib": 1024.0, "gb": 1e9 / MIB, "mib": 1.0}

TORCH_CUDA = {
    (2, 5): "12.4", (2, 6): "12.4", (2, 7): "12.6", (2, 8): "12.8", (2, 9): "12.8", (2, 10): "12.8",
    (2, 11): "13.0", (2, 12): "13.0", (2, 13): "13.0", (2, 14): "13.0",
}  # fmt: skip
"""The CUDA version that PyTorch's wheels on the package index are built with."""


def gpu_named(name: str) -> Gpu | None:
    """Return the GPU a user names; None for ``cpu``.

    ``sm120:96GiB`` describes one by capability and memory.

    Raises:
        UsageError: no GPU of that name is known.
    """
    wanted = _folded(name)
    if wanted == "cpu":
        return None
    described = _SM.fullmatch(name.strip())
    if described:
        major, minor, size, unit = described.groups()
        mib = round(float(size) * _UNITS[unit.lower()]) if size else None
        return Gpu(None, (int(major), int(minor)), mib * MIB if mib else None, mib)
    for known, gpu in GPUS.items():
        if wanted in (_folded(known), _folded(gpu.name or "")):
            return gpu
    raise UsageError(
        f"no GPU named {name!r} is known",
        f"use one of {', '.join(GPUS)}, cpu, or a description such as sm120:96GiB",
    )


def cuda_of(torch_version: str | None) -> str | None:
    """Return the CUDA version of a PyTorch release's default wheel, where it is known."""
    match = re.match(r"(\d+)\.(\d+)", torch_version or "")
    return TORCH_CUDA.get((int(match.group(1)), int(match.group(2)))) if match else None


def _folded(name: str) -> str:
    return re.sub(r"nvidia|geforce|[^a-z0-9]", "", name.lower())
