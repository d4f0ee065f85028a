"""GPU names."""

from __future__ import annotations

import pytest

from indexer.errors import UsageError
from indexer.explain.platforms import cuda_of, gpu_named
from indexer.interpret.explore import explore
from indexer.interpret.gpus import GPUS, KINDS_OF_GPU
from indexer.interpret.launch import MIB
from indexer.interpret.machine import GPU_MEMORY_GIB, UNKNOWN_GPU, memory_of, name_of


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


@pytest.mark.parametrize("name", ["sm999", "sm00", "sm49", "sm160", "sm120:0GiB", "sm120:96000GiB"])
def test_what_no_gpu_is_like_is_said(name):
    with pytest.raises(UsageError, match="no GPU has"):
        gpu_named(name)


@pytest.mark.parametrize("name", ["sm_61", "sm121", "sm130", "SM90:141GB", "sm103:288GiB"])
def test_what_may_be_a_gpu_is_taken(name):
    assert gpu_named(name) is not None


@pytest.mark.parametrize("name", ["8xH200", "8 x H200", "H200x8", "H200*8"])
def test_a_number_of_gpus_belongs_elsewhere(name):
    with pytest.raises(UsageError, match="--gpus 8"):
        gpu_named(name)


def test_cuda_follows_torch():
    assert cuda_of("2.9.1") == "12.8" and cuda_of("") is None and cuda_of("9.9") is None


def test_of_a_gpu_that_is_named_only_its_own_facts_are_tried() -> None:
    """Its memory is any size there is, not that of the kinds tried where no GPU is named."""
    tried = explore(lambda: memory_of(GPUS["MI300X"]) >> 30, 48)
    assert {path.result for path in tried.paths} == set(GPU_MEMORY_GIB)
    unnamed = explore(lambda: (name_of(UNKNOWN_GPU), memory_of(UNKNOWN_GPU) // MIB), 48)
    assert ("NVIDIA B300 SXM6 AC", 288 * 1024) in {path.result for path in unnamed.paths}
    assert len(unnamed.paths) == len(KINDS_OF_GPU)
