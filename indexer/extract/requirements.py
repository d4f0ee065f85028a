"""What a release's own metadata says must be installed beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from indexer.errors import CannotError
from indexer.source.cache import cache_folder, keep
from indexer.source.tree import SourceTree

_READER_VERSION = 1
"""Raised when the same metadata is read differently than before."""

_RUNTIME_EXTRAS = ("srt", "runtime_common")
"""Extras into which early releases put what the server needs."""

_LINUX = {
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_system": "Linux",
    "python_full_version": "3.12.3",
    "python_version": "3.12",
    "sys_platform": "linux",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}

_IMPORT_NAMES = {
    # Distributions whose import name is not their own, and what they bring under another name.
    "flashinfer-python": ("flashinfer",),
    "ipython": ("IPython",),
    "opencv-python-headless": ("cv2",),
    "pillow": ("PIL",),
    "pyyaml": ("yaml",),
    "pyzmq": ("zmq",),
    "sglang-kernel": ("sgl_kernel",),
    "sgl-kernel": ("sgl_kernel",),
    "py-spy": ("py_spy",),
    "python-multipart": ("multipart",),
    "nvidia-ml-py": ("pynvml",),
    "nvidia-cutlass-dsl": ("cutlass",),
}


def required_packages(tree: SourceTree) -> dict[str, str | None]:
    """Return the packages a plain install of the tree brings: import name to pinned version.

    A package whose version is not pinned has the empty string. Requirements of extras are left out,
    except where an old release puts its runtime into one (``srt``). What was read is kept in the user's
    cache: the parsers of metadata and of requirements take longer to load than to run.
    """
    metadata = tree.metadata() or ""
    kept = _kept(metadata)
    if kept is not None:
        try:
            return json.loads(kept.read_bytes())
        except (OSError, ValueError):
            pass
    found = _read(metadata)
    if kept is not None:
        keep(kept, json.dumps(found).encode())
    return found


def _kept(metadata: str) -> Path | None:
    digest = hashlib.blake2b(f"{_READER_VERSION}\0{metadata}".encode(), digest_size=12).hexdigest()
    try:
        return cache_folder("requirements") / f"{digest}.json"
    except CannotError:
        return None


def _read(metadata: str) -> dict[str, str | None]:
    from email.parser import HeaderParser

    from packaging.requirements import InvalidRequirement, Requirement

    headers = HeaderParser().parsestr(metadata)
    found: dict[str, str | None] = {}
    for line in headers.get_all("Requires-Dist") or []:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker and not any(
            requirement.marker.evaluate({**_LINUX, "extra": extra}) for extra in ("", *_RUNTIME_EXTRAS)
        ):
            continue
        exact = [one.version for one in requirement.specifier if one.operator == "=="]
        distribution = requirement.name.lower().replace("_", "-")
        for name in (distribution, *_IMPORT_NAMES.get(distribution, (distribution.replace("-", "_"),))):
            found[name] = exact[0] if exact else ""
    return found
