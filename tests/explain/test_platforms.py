"""GPU names."""

from __future__ import annotations

import pytest

from indexer.errors import UsageError
from indexer.explain.platforms import GPUS, cuda_of, gpu_named


@pytest.mark.parametrize("spelling", ["H200", "h200", "NVIDIA H200", "nvidia-h200"])
def test_spellings_of_a_name(spelling):
    assert gpu_named(spelling) is GPUS["H200"]


def test_a_described_gpu():
    gpu = gpu_named("sm120:96GiB")
    assert gpu is not None and gpu.capability == (12, 0) and gpu.smi_mib == 96 * 1024
    assert gpu_named("sm90").memory_bytes is None


def test_cpu_is_no_gpu():
    assert gpu_named("cpu") is None


def test_an_unknown_name_is_said():
    with pytest.raises(UsageError, match="RTX PRO 6000"):
        gpu_named("H300")


def test_cuda_follows_torch():
    assert cuda_of("2.9.1") == "12.8" and cuda_of("") is None and cuda_of("9.9") is None
