"""The facts of one launch: what is known about the command, the machine and what is installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MIB = 1 << 20


@dataclass(frozen=True)
class Gpu:
    """A GPU as PyTorch and nvidia-smi see it. ``None`` means not known.

    ``memory_bytes`` is ``torch.cuda``'s total, ``smi_mib`` what nvidia-smi prints; the two differ.
    """

    name: str | None
    capability: tuple[int, int] | None
    memory_bytes: int | None
    smi_mib: int | None
    vendor: str = "nvidia"
    multiprocessors: int | None = None
    free_bytes: int | None = None


@dataclass(frozen=True)
class Host:
    """The machine around the GPUs; ``None`` means not known."""

    ram_bytes: int | None = None
    cpus: int | None = None
    numa_nodes: int | None = None
    amx: bool | None = None
    machine: str = "x86_64"


@dataclass(frozen=True)
class Launch:
    """Everything that argument resolution may ask about.

    ``env`` holds the variables that are set; with ``env_complete`` any other variable is known to be
    unset, except those in ``env_unknown``. ``packages`` maps import or distribution names to versions
    (None: not installed); with ``packages_complete`` all others are known to be absent, except those in
    ``packages_unknown``.
    """

    argv: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    env_complete: bool = True
    env_unknown: frozenset[str] = frozenset()
    packages: dict[str, str | None] = field(default_factory=dict)
    packages_complete: bool = False
    packages_unknown: frozenset[str] = frozenset()
    gpu: Gpu | None = None
    gpu_known: bool = True
    gpu_count: int | None = 0
    cuda: str | None = None
    nvml: bool | None = None
    host: Host = field(default_factory=Host)
    python: tuple[int, int, int] = (3, 12, 3)
    folders: tuple[Path, ...] = ()
    """Folders of the user's that may be read (the model's, a ``--config`` file's)."""
    files: dict[str, str] = field(default_factory=dict)
    """Files given as text, by absolute path; they hide what is on disk."""
    stands_for: dict[str, Path] = field(default_factory=dict)
    """Names that the arguments have for a folder of the user's: an id of a model, say."""
    hidden_keys: frozenset[str] = frozenset()
    """Keys of the model's config.json whose values are not known."""
