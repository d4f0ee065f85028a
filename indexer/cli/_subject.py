"""What a launch is asked about for: its model and GPUs, as ``explain`` and ``report`` are given them."""

from __future__ import annotations

from pathlib import Path

from indexer.errors import UsageError


def refuse_unclear(model: Path | None, arch: str | None, gpu: str | None, gpus: int | None) -> None:
    """Refuse options that contradict each other, and a model's folder without a configuration.

    Raises:
        UsageError: two say what the model is, there are GPUs beside a CPU, or no ``config.json``.
    """
    if model is not None and arch is not None:
        raise UsageError(
            "--model and --arch both say what the model is", "--arch is where there is no config.json"
        )
    if gpus is not None and (gpu or "").strip().lower() == "cpu":
        raise UsageError("--gpu cpu and --gpus: are there GPUs?", "give one of them")
    if model is not None and not (model / "config.json").is_file():
        raise UsageError(f"{model} has no config.json", "give the folder of the model's config.json")
