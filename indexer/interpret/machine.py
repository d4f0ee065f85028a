"""PyTorch, nvidia-smi and psutil as the launch's machine would answer them."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any

from indexer.interpret.gpus import KINDS_OF_GPU
from indexer.interpret.launch import MIB, Gpu, Launch
from indexer.interpret.marks import takes_unknown
from indexer.interpret.unknown import Unknown, choose

UNKNOWN_GPU = Gpu(None, None, None, None)

GPU_MEMORY_GIB = (8, 16, 22, 24, 32, 40, 48, 64, 80, 96, 141, 180, 192, 256, 288)
HOST_RAM_GIB = (16, 24, 32, 64, 128, 256, 512, 1024, 2048)
CAPABILITIES = ((7, 5), (8, 0), (8, 6), (8, 9), (10, 0), (10, 3), (12, 0), (9, 0))
CUDNN_VERSIONS = (90501, 91002, 91600)
CUDA_VERSIONS = ("12.4", "12.6", "12.8", "12.9", "13.0")
"""What is tried where a fact is not known: the sizes and kinds there are on the market."""


def memory_of(gpu: Gpu) -> int:
    """Return the bytes of a GPU; where they aren't known, each size is tried on a path of its own."""
    gpu = _of_a_kind(gpu)
    if gpu.memory_bytes is not None:
        return gpu.memory_bytes
    if gpu.smi_mib is not None:
        return gpu.smi_mib * MIB
    return choose("GPU memory in GiB", GPU_MEMORY_GIB) * 1024 * MIB


def capability_of(gpu: Gpu) -> tuple[int, int]:
    """Return a GPU's capability; where it isn't known, each is tried on a path of its own."""
    return _of_a_kind(gpu).capability or choose("SM version", CAPABILITIES)


def name_of(gpu: Gpu) -> Any:
    """Return a GPU's name, unknown where it isn't told."""
    return _or_unknown(_of_a_kind(gpu).name, "GPU name")


def _of_a_kind(gpu: Gpu) -> Gpu:
    """Return the GPU, or for one of which nothing is known the path's kind: its facts belong together."""
    known = (gpu.name, gpu.capability, gpu.memory_bytes, gpu.smi_mib)
    return gpu if any(one is not None for one in known) else KINDS_OF_GPU[choose("GPU", tuple(KINDS_OF_GPU))]


def ram_of(launch: Launch) -> int:
    """Return the host's memory in bytes; where it isn't known, each size is tried."""
    return launch.host.ram_bytes or choose("host RAM in GiB", HOST_RAM_GIB) * 1024 * MIB


def machine_values(world: Any) -> tuple[dict[str, Any], set[str]]:
    """Return the known attributes of third-party packages, and those known to be absent."""
    launch: Launch = world.launch
    absent = {
        f"torch.{name}"
        for name in ("npu", "hpu", "musa", "version.musa", "version.npu", "mlu", "vacc", "mthreads")
    }
    gpu = launch.gpu
    version: Any = world.package_version("torch")
    values: dict[str, Any] = {
        "torch.__version__": version,
        "torch.version.__version__": version,
        "torch.version.hip": None,
        "torch.version.xpu": None,
    }
    present = ("backends", "compiler", "cpu", "cuda", "distributed", "mps", "nn", "ops", "xpu")
    for name in (*present, "library.infer_schema"):
        values[f"torch.{name}"] = world.external(f"torch.{name}")
    if not launch.gpu_known:
        values["torch.version.hip"] = Unknown("ROCm version", ("GPU",))
    if gpu is not None and gpu.vendor == "amd":
        values["torch.version.hip"] = Unknown("ROCm version")
    return values, absent


def machine_questions(world: Any) -> dict[str, Callable[[], Any]]:
    """Return the attributes of third-party packages that are found out when they are first read."""
    launch: Launch = world.launch

    def cuda() -> str | None:
        if launch.gpu_known and (launch.gpu is None or launch.gpu.vendor != "nvidia"):
            return None
        if not launch.gpu_known and not Unknown("whether there is a GPU", ("GPU",)):
            return None
        return launch.cuda or choose("CUDA version", CUDA_VERSIONS)

    return {"torch.version.cuda": cuda}


def _or_unknown(value: Any, text: str) -> Any:
    return Unknown(text) if value is None else value


def machine_intrinsics(world: Any) -> dict[str, Callable[..., Any]]:
    """Return what calls of third-party functions give on the launch's machine."""
    launch: Launch = world.launch
    gpu = launch.gpu
    has_gpu: Any = gpu is not None
    if not launch.gpu_known:
        has_gpu = Unknown("whether there is a GPU", ("GPU",))
    facts = gpu or UNKNOWN_GPU

    def needs_cuda(answer: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*args: Any, **kwargs: Any) -> Any:
            if not has_gpu:
                raise AssertionError("Torch not compiled with CUDA enabled")
            return answer(*args, **kwargs)

        return takes_unknown(ask)

    name = partial(name_of, facts)
    capability = partial(capability_of, facts)
    memory = partial(memory_of, facts)
    free = facts.free_bytes if facts.free_bytes is not None else Unknown("free GPU memory")

    def properties(*args: Any, **kwargs: Any) -> Any:
        major, minor = capability()
        return types.SimpleNamespace(
            name=name(),
            major=major,
            minor=minor,
            total_memory=memory(),
            multi_processor_count=_or_unknown(facts.multiprocessors, "number of SMs"),
            warp_size=32,
            gcnArchName="" if facts.vendor == "nvidia" else Unknown("gfx architecture"),
            is_integrated=False,
        )

    def smi(command: Any, *args: Any, **kwargs: Any) -> Any:
        return _run(launch, facts, has_gpu, command)

    def false(*args: Any, **kwargs: Any) -> bool:
        return False

    nothing = takes_unknown(lambda *args, **kwargs: None)
    count = _or_unknown(launch.gpu_count, "number of GPUs")
    if not launch.gpu_known:
        count = Unknown("number of GPUs", ("GPU",))
    amx: Any = _or_unknown(launch.host.amx, "AMX support of the CPU")
    return {
        "torch.cuda.is_available": lambda: has_gpu if facts.vendor in ("nvidia", "amd") else False,
        "torch.cuda.device_count": lambda: count,
        "torch.cuda.current_device": needs_cuda(lambda: 0),
        "torch.cuda.get_device_name": needs_cuda(lambda *args, **kwargs: name()),
        "torch.cuda.get_device_capability": needs_cuda(lambda *args, **kwargs: capability()),
        "torch.cuda.get_device_properties": needs_cuda(properties),
        "torch.cuda.mem_get_info": needs_cuda(lambda *args, **kwargs: (free, memory())),
        "torch.cuda.is_initialized": false,
        "torch.cuda.set_device": nothing,
        "torch.cuda.synchronize": nothing,
        "torch.cuda.empty_cache": nothing,
        "random.randint": takes_unknown(lambda *args: Unknown("a random number", kind=int)),
        "random.random": takes_unknown(lambda *args: Unknown("a random number", kind=float)),
        "glob.glob": takes_unknown(world.files.glob),
        "torch.library.Library": takes_unknown(
            lambda *args, **kwargs: world.external("torch.library.Library()")
        ),
        "torch.backends.cudnn.version": lambda: _cudnn(launch),
        "torch.cpu.is_available": lambda: True,
        "torch.xpu.is_available": false,
        "torch.mps.is_available": false,
        "torch.backends.mps.is_available": false,
        "torch.hpu.is_available": false,
        "torch.cpu._is_amx_tile_supported": lambda: amx,
        "torch._C._cpu._is_amx_tile_supported": lambda: amx,
        "torch.finfo": takes_unknown(lambda *args: Unknown("torch.finfo")),
        "torch.cuda._get_nvml_device_index": needs_cuda(lambda *args: 0),
        "pynvml.nvmlInit": lambda: _nvml(world, launch),
        "pynvml.nvmlShutdown": nothing,
        "pynvml.nvmlDeviceGetCount": lambda: count,
        "pynvml.nvmlDeviceGetCudaComputeCapability": takes_unknown(lambda handle: capability()),
        "pynvml.nvmlDeviceGetName": takes_unknown(lambda handle: name()),
        "psutil.virtual_memory": lambda: types.SimpleNamespace(
            total=ram_of(launch), available=Unknown("available host RAM", ("host RAM",))
        ),
        "psutil.Process": takes_unknown(
            lambda *args: types.SimpleNamespace(cpu_affinity=lambda: list(range(_cpus(launch))))
        ),
        "subprocess.run": takes_unknown(smi),
        "subprocess.check_output": takes_unknown(lambda command, **options: _output(launch, command)),
    }


def _cudnn(launch: Launch) -> int | None:
    """Return cuDNN's version as PyTorch gives it: 9.16.0 is 91600."""
    if launch.gpu_known and launch.gpu is None:
        return None
    for name in ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12"):
        version = launch.packages.get(name)
        if version:
            major, minor, patch, *_ = [*(int(part) for part in version.split(".")[:3]), 0, 0]
            return major * 10_000 + minor * 100 + patch
    return choose("cuDNN version", CUDNN_VERSIONS)


_SUPPOSED_CPUS = 8


def _cpus(launch: Launch) -> int:
    return launch.host.cpus or _SUPPOSED_CPUS


def _output(launch: Launch, command: Any) -> Any:
    """Answer ``lscpu``: how the CPUs are spread over NUMA nodes. Without facts, one node or two."""
    words = command if isinstance(command, (list, tuple)) else str(command).split()
    if not words or words[0] != "lscpu":
        return Unknown(f"output of {words[0] if words else 'a command'}")
    nodes = launch.host.numa_nodes or choose("NUMA nodes of the host", (2, 1))
    cpus = _cpus(launch)
    return "".join(f"{cpu},{cpu},0,{cpu * nodes // cpus}\n" for cpu in range(cpus))


def _nvml(world: Any, launch: Launch) -> None:
    if launch.nvml is None and Unknown("whether NVML works", ("NVML",)):
        return
    if not launch.nvml:
        error = world.external_base(world.external("pynvml.NVMLError"))
        raise type("NVMLError", (error, Exception), {})("NVML Shared Library Not Found")


def _run(launch: Launch, gpu: Gpu, has_gpu: Any, command: Any) -> Any:
    """Answer the memory query of nvidia-smi; anything else is unknown."""
    words = command if isinstance(command, (list, tuple)) else str(command).split()
    line = " ".join(str(word) for word in words)
    if "nvidia-smi" in line:
        if not has_gpu:
            raise FileNotFoundError(2, "No such file or directory: 'nvidia-smi'")
        gpu = _of_a_kind(gpu)
        mib = gpu.smi_mib if gpu.smi_mib is not None else memory_of(gpu) // MIB
        return types.SimpleNamespace(returncode=0, stdout=f"{mib}\n" * (launch.gpu_count or 1), stderr="")
    return Unknown(f"output of {words[0] if words else 'a command'}")
