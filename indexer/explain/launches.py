"""From what a user says about a launch to all the facts that resolution may ask about."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from indexer.errors import CannotError
from indexer.explain.platforms import cuda_of, gpu_named
from indexer.extract.requirements import required_packages
from indexer.interpret.gpus import KINDS_OF_GPU
from indexer.interpret.launch import Gpu, Host, Launch
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.source.tree import SourceTree

_BROUGHT_ALONG = (
    # What torch and transformers bring by themselves, in every release.
    *("filelock", "fsspec", "huggingface_hub", "jinja2", "networkx", "numpy", "packaging", "regex"),
    *("requests", "safetensors", "sympy", "tokenizers", "tqdm", "triton", "typing_extensions", "yaml"),
)


UNNAMED_GPU = "an NVIDIA GPU, of which nothing more is known (say which with --gpu): tried are " + ", ".join(
    KINDS_OF_GPU
)


@dataclass
class Question:
    """A launch as the user describes it; what is None is not said.

    ``packages`` maps names to versions; an empty version means installed, ``"none"`` not installed.
    """

    argv: list[str]
    model: str | None = None
    arch: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    gpu: str | None = None
    gpus: int | None = None
    packages: dict[str, str] = field(default_factory=dict)
    host_ram_bytes: int | None = None
    cpus: int | None = None
    id: str | None = None


@dataclass
class PreparedLaunch:
    """The facts, the transformers release to read configurations with, and what was supposed."""

    launch: Launch
    transformers: ConfigurationTree | None
    assumed: list[str]
    lacking: list[str] = field(default_factory=list)
    """Packages that the release requires and the user says are not installed."""


def prepare(tree: SourceTree, question: Question) -> PreparedLaunch:
    """Return the facts of a launch of one SGLang tree.

    Raises:
        UsageError: the GPU is not known.
        CannotError: the transformers release that the tree pins can't be fetched.
    """
    assumed: list[str] = []
    packages: dict[str, str | None] = dict.fromkeys(_BROUGHT_ALONG, "")
    required = required_packages(tree)
    packages |= required
    for name, version in question.packages.items():
        for spelling in {name, name.replace("-", "_"), name.replace("_", "-")}:
            packages[spelling] = None if str(version).lower() in ("none", "absent") else str(version)
    assumed.append("installed is what a plain install of this release brings, at its pinned versions")
    assumed.append("no plugins of SGLang or of its platforms are installed")
    gpu, known = _gpu(question, assumed)
    transformers = _transformers(tree, packages, assumed)
    torch = packages.get("torch")
    cuda = cuda_of(torch) if gpu is not None and gpu.vendor == "nvidia" else None
    if cuda:
        assumed.append(f"CUDA {cuda}, which torch {torch} is built with")
    argv = list(question.argv)
    files: dict[str, str] = {}
    stands_for: dict[str, Path] = {}
    if question.arch and not question.model:
        from indexer.explain.architectures import ARCH_FOLDER, configuration_for

        text, spelled = configuration_for(question.arch, tree, transformers)
        files[f"{ARCH_FOLDER}/config.json"] = text
        argv += ["--model-path", ARCH_FOLDER]
        assumed.append(f"the checkpoint of {question.arch} has the default configuration of its class")
        assumed += [
            f"its {one.key} is {one.value!r}, the default at {one.path}:{one.line}" for one in spelled
        ]
    elif question.model:
        named = model_in(argv)
        if named is None:
            argv += ["--model-path", question.model]
        elif _has_configuration(question.model) and not _has_configuration(named):
            stands_for[named.rstrip("/")] = Path(question.model)
            assumed.append(f"the model {named} is what {question.model} holds")
    on_cpu = gpu is None and known
    env = dict(question.env)
    if on_cpu and "--device" not in argv:
        argv += ["--device", "cpu"]
        env.setdefault("SGLANG_USE_CPU_ENGINE", "1")
        assumed.append("on a CPU: --device cpu and SGLANG_USE_CPU_ENGINE=1")
    launch = Launch(
        argv=tuple(argv),
        env=env,
        packages=packages,
        packages_complete=True,
        gpu=gpu,
        gpu_known=known,
        gpu_count=0 if on_cpu else question.gpus,
        cuda=cuda,
        nvml=gpu is not None and gpu.vendor == "nvidia",
        host=Host(ram_bytes=question.host_ram_bytes, cpus=question.cpus, amx=None if on_cpu else False),
        folders=tuple(_folders(argv)),
        files=files,
        stands_for=stands_for,
    )
    lacking = [name for name in required if packages.get(name) is None] if not on_cpu else []
    return PreparedLaunch(launch, transformers, assumed, lacking)


def model_in(argv: list[str]) -> str | None:
    """Return the model that arguments name, None where they name none."""
    named = None
    for word, value in pairwise([*argv, ""]):
        option, equals, joined = word.partition("=")
        if option in ("--model-path", "--model"):
            named = joined if equals else value
    return named


def _has_configuration(folder: str | None) -> bool:
    try:
        return folder is not None and (Path(folder) / "config.json").is_file()
    except (OSError, ValueError):
        return False


def has_model(question: Question) -> bool:
    """Tell whether the configuration of a launch's model is at hand."""
    return bool(question.arch) or any(map(_has_configuration, (question.model, model_in(question.argv))))


def architecture_of(question: Question) -> str | None:
    """Return the architecture that a launch's model names, None where its configuration isn't at hand."""
    if question.arch and not question.model:
        return question.arch
    named = model_in(question.argv)
    folder = named if _has_configuration(named) else question.model
    try:
        config = json.loads((Path(folder or "") / "config.json").read_bytes())
        return str(config["architectures"][0])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


def _gpu(question: Question, assumed: list[str]) -> tuple[Gpu | None, bool]:
    if question.gpu is None:
        assumed.append(UNNAMED_GPU)
        return Gpu(None, None, None, None), True
    return gpu_named(question.gpu), True


def _transformers(
    tree: SourceTree, packages: dict[str, str | None], assumed: list[str]
) -> ConfigurationTree | None:

    version = packages.get("transformers")
    if not version:
        assumed.append("no transformers version is pinned: configurations of models are not known")
        return None
    try:
        return _configurations(version)
    except CannotError as error:
        raise CannotError(
            f"SGLang {tree.version} reads model configurations with transformers {version}, which "
            f"can't be had: {error.message}",
            error.fix,
        ) from error


@cache
def _configurations(version: str) -> ConfigurationTree:
    from indexer.source.wheels import open_wheel_tree

    return ConfigurationTree(open_wheel_tree("transformers", version))


def _folders(argv: list[str]) -> list[Path]:
    """Return the files and folders that the arguments name and that are there."""
    found = []
    for word in argv:
        value = word.partition("=")[2] if word.startswith("--") else word
        if value and len(value) < 4096 and "\0" not in value:
            path = Path(value)
            try:
                if path.exists():
                    found.append(path)
            except OSError:
                continue
    return found
