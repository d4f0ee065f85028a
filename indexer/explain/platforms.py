"""Reading what a user says of a GPU, and which CUDA a PyTorch release brings."""

from __future__ import annotations

import re

from indexer.errors import UsageError
from indexer.interpret.gpus import GPUS
from indexer.interpret.launch import MIB, Gpu

_SM = re.compile(r"sm_?(\d+)(\d)(?::(\d+(?:\.\d+)?)(GiB|GB|MiB))?", re.IGNORECASE)
_COUNTED = re.compile(r"(\d+)\s*[x×*]\s*(\S.*)|(\S.*?)\s*[x×*]\s*(\d+)", re.IGNORECASE)
_MAJORS = range(5, 16)
"""Compute capabilities that are taken: from the oldest that PyTorch's CUDA builds still knew to some that
are not made yet. SGLang's own tests know 7 to 12; a number beyond is a slip of the pen."""
_MOST_GIB = 2048
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
        return _described(*described.groups())
    for known, gpu in GPUS.items():
        if wanted in (_folded(known), _folded(gpu.name or "")):
            return gpu
    counted = _COUNTED.fullmatch(name.strip())
    if counted:
        count, rest = counted.group(1) or counted.group(4), counted.group(2) or counted.group(3)
        raise UsageError(f"{name!r} holds a number of GPUs", f"say --gpu {rest.strip()!r} --gpus {count}")
    from indexer.knowledge.nearest import nearest

    near = nearest(name, GPUS, 1)
    raise UsageError(
        f"no GPU named {name!r} is known",
        f"{f'did you mean {near[0]}? ' if near else ''}Use one of {', '.join(GPUS)}, cpu, or a description "
        "such as sm120:96GiB",
    )


def _described(major: str, minor: str, size: str | None, unit: str | None) -> Gpu:
    """Return the GPU of a compute capability, and of a memory if one is said.

    Raises:
        UsageError: there can be no such GPU.
    """
    if int(major) not in _MAJORS:
        raise UsageError(
            f"no GPU has compute capability {major}.{minor}",
            f"write it as in sm90, sm100, sm103 or sm120:96GiB (from {_MAJORS[0]}.0 to {_MAJORS[-1]}.9)",
        )
    mib = round(float(size) * _UNITS[unit.lower()]) if size and unit else None
    if mib is not None and not 1024 <= mib <= _MOST_GIB * 1024:
        raise UsageError(f"no GPU has {size} {unit} of memory", "write it as in sm120:96GiB")
    return Gpu(None, (int(major), int(minor)), mib * MIB if mib else None, mib)


def cuda_of(torch_version: str | None) -> str | None:
    """Return the CUDA version of a PyTorch release's default wheel, where it is known."""
    match = re.match(r"(\d+)\.(\d+)", torch_version or "")
    return TORCH_CUDA.get((int(match.group(1)), int(match.group(2)))) if match else None


def _folded(name: str) -> str:
    return re.sub(r"nvidia|geforce|[^a-z0-9]", "", name.lower())
