"""Names of GPUs people type, and what PyTorch and nvidia-smi say of them.

These are facts of the hardware, not of SGLang. A number that isn't known for sure is left out: it is
then an unknown of the launch, and what depends on it is told.
"""

from __future__ import annotations

from dataclasses import replace

from indexer.interpret.launch import Gpu


def _nvidia(name: str, sm: tuple[int, int], smi_mib: int | None, torch_bytes: int | None = None) -> Gpu:
    return Gpu(name, sm, torch_bytes, smi_mib)


GPUS: dict[str, Gpu] = {
    "V100": _nvidia("Tesla V100-SXM2-32GB", (7, 0), 32768),
    "T4": _nvidia("Tesla T4", (7, 5), 15360),
    "A100": _nvidia("NVIDIA A100-SXM4-80GB", (8, 0), 81920),
    "A100-40GB": _nvidia("NVIDIA A100-SXM4-40GB", (8, 0), 40960),
    "A10": _nvidia("NVIDIA A10", (8, 6), 23028),
    "A10G": _nvidia("NVIDIA A10G", (8, 6), 23028),
    "A40": _nvidia("NVIDIA A40", (8, 6), 46068),
    "RTX A6000": _nvidia("NVIDIA RTX A6000", (8, 6), 49140),
    "RTX 3090": _nvidia("NVIDIA GeForce RTX 3090", (8, 6), 24576),
    "L4": _nvidia("NVIDIA L4", (8, 9), 23034),
    "L40": _nvidia("NVIDIA L40", (8, 9), 46068),
    "L40S": _nvidia("NVIDIA L40S", (8, 9), 46068),
    "RTX 4090": _nvidia("NVIDIA GeForce RTX 4090", (8, 9), 24564),
    "RTX 6000 Ada": _nvidia("NVIDIA RTX 6000 Ada Generation", (8, 9), 49140),
    "H20": _nvidia("NVIDIA H20", (9, 0), 97871),
    "H100": _nvidia("NVIDIA H100 80GB HBM3", (9, 0), 81559),
    "H100 NVL": _nvidia("NVIDIA H100 NVL", (9, 0), 95830),
    "H200": _nvidia("NVIDIA H200", (9, 0), 143771, 150_109_880_320),
    "GH200": _nvidia("NVIDIA GH200 480GB", (9, 0), 97871),
    "B200": _nvidia("NVIDIA B200", (10, 0), 183359, 191_500_386_304),
    "GB200": _nvidia("NVIDIA GB200", (10, 0), None),
    "B300": _nvidia("NVIDIA B300 SXM6 AC", (10, 3), None),
    "GB300": _nvidia("NVIDIA GB300", (10, 3), None),
    "RTX 5090": _nvidia("NVIDIA GeForce RTX 5090", (12, 0), 32607),
    "RTX PRO 6000": _nvidia("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", (12, 0), 97887),
    "GB10": _nvidia("NVIDIA GB10", (12, 1), None),
    "MI300X": Gpu("AMD Instinct MI300X", None, None, None, vendor="amd"),
    "MI325X": Gpu("AMD Instinct MI325X", None, None, None, vendor="amd"),
    "MI355X": Gpu("AMD Instinct MI355X", None, None, None, vendor="amd"),
}

_TRIED = (
    "A100",
    "RTX PRO 6000",
    "T4",
    "B200",
    "L40S",
    "H100",
    "RTX 5090",
    "A10G",
    "B300",
    "H20",
    "GB10",
    "V100",
    "H200",
)
_TRIED_MIB = {"B300": 288 * 1024, "GB10": 128 * 1024}
"""A size to try for those whose own isn't known for sure."""


def _tried(name: str) -> Gpu:
    gpu = GPUS[name]
    return gpu if gpu.smi_mib is not None else replace(gpu, smi_mib=_TRIED_MIB[name])


KINDS_OF_GPU: dict[str, Gpu] = {str(GPUS[name].name): _tried(name) for name in _TRIED}
"""What is tried where nothing at all is known of a GPU, the most different first; by PyTorch's name."""
