"""Let torch report a described GPU where there is none: for SGLang's argument resolver only.

Standard library and torch; imported before sglang, on the host where sglang is installed. Only
queries are answered. Nothing can run on such a GPU.
"""

import json
import os
import stat
import tempfile

FACTS = ("name", "count", "capability", "total_memory", "free_memory", "multiprocessors", "smi_mib")
"""What a description holds: memory in bytes, ``smi_mib`` as nvidia-smi reports it."""

H200 = {
    "name": "NVIDIA H200",
    "count": 1,
    "capability": [9, 0],
    "total_memory": 150109880320,
    "free_memory": 149000000000,
    "multiprocessors": 132,
    "smi_mib": 143771,
}
"""Read on a real device (29 November 2026)."""


def describe(gpu):
    """Answer torch.cuda's queries, and ``nvidia-smi``, with the facts of ``gpu``."""
    import torch

    class Properties:
        name = gpu["name"]
        major, minor = gpu["capability"]
        total_memory = gpu["total_memory"]
        multi_processor_count = gpu["multiprocessors"]
        warp_size = 32
        shared_memory_per_multiprocessor, shared_memory_per_block_optin = 233472, 232448
        L2_cache_size, gcnArchName = 62914560, ""

    def nothing(name):
        # One function object each: torch's own bookkeeping refuses one object under two names.
        def call(*_args, **_kwargs):
            return None

        call.__name__ = name
        return call

    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: gpu["count"]
    cuda.current_device = lambda: 0
    cuda.get_device_capability = lambda *_a, **_k: tuple(gpu["capability"])
    cuda.get_device_name = lambda *_a, **_k: gpu["name"]
    cuda.get_device_properties = lambda *_a, **_k: Properties()
    cuda.mem_get_info = lambda *_a, **_k: (gpu["free_memory"], gpu["total_memory"])
    for name in ("set_device", "synchronize", "empty_cache"):
        setattr(cuda, name, nothing(name))
    _put_on_path(gpu["smi_mib"] for _ in range(gpu["count"]))


def _put_on_path(memories):
    folder = tempfile.mkdtemp(prefix="described-gpu-")
    script = os.path.join(folder, "nvidia-smi")
    with open(script, "w") as file:
        file.write("#!/bin/sh\n" + "".join(f"echo {mib}\n" for mib in memories))
    os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]


def read_description(text):
    """Return a description from JSON text (or the built-in ``H200``); a missing fact is an error."""
    gpu = H200 if text == "H200" else json.loads(text)
    missing = [fact for fact in FACTS if fact not in gpu]
    if missing:
        raise ValueError(f"the GPU description lacks {', '.join(missing)}")
    return gpu
