"""Run a plan as Ray tasks, one launch a task, on every GPU of a cluster (extra ``[ray]``)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import CLEAN, FINDINGS, CannotError
from indexer.validate.hosts.local import PROBE
from indexer.validate.launchspec import Launch, Plan


def one_launch(plan_json: bytes, probe: str, python: str, options: list[str]) -> dict[str, bytes]:
    """Run a plan of one launch on the worker; return the probe's files (records' raw material)."""
    with tempfile.TemporaryDirectory(prefix="sglang-indexer-validate.") as name:
        folder = Path(name)
        (folder / "plan.json").write_bytes(plan_json)
        (folder / "probe.py").write_text(probe, "utf-8")
        models, out = folder / "models", folder / "out"
        subprocess.run(
            [python, "-m", "indexer.validate.models", str(models)], check=True, capture_output=True
        )
        done = subprocess.run(
            [
                python,
                str(folder / "probe.py"),
                "run",
                *("--plan", str(folder / "plan.json"), "--models", str(models), "--out", str(out)),
                *("--width", "1", *options),
            ],
            capture_output=True,
        )
        files = {path.name: path.read_bytes() for path in out.glob("*.json")} if out.is_dir() else {}
        return files or {"failed.txt": (done.stderr or done.stdout)[-2000:]}


def run(
    address: str, plan: Plan, out: Path, python: str | None, options: list[str], told: Callable[[str], None]
) -> int:
    """Run every launch of ``plan`` that ``out`` has no result of; return CLEAN or FINDINGS.

    Raises:
        CannotError: Ray is not installed here, or the cluster can't be reached.
    """
    try:
        import ray
    except ImportError:
        raise CannotError("Ray is not installed here", "pip install 'sglang-indexer[ray]'") from None
    try:
        ray.init(address=address, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise CannotError(f"Ray at {address}: {error}") from None
    out.mkdir(parents=True, exist_ok=True)
    task: Any = ray.remote(num_gpus=plan.gpus)(one_launch)
    probe = PROBE.read_text("utf-8")
    waiting = {
        task.remote(_single(plan, launch), probe, python or sys.executable, options): launch.id
        for launch in plan.launches
        if not (out / f"{launch.id}.json").exists()
    }
    failed = 0
    while waiting:
        (ready,), _ = ray.wait(list(waiting), num_returns=1)
        launch = waiting.pop(ready)
        files = ray.get(ready)
        for name, data in files.items():
            (out / name).write_bytes(data)
        failed += f"{launch}.json" not in files
        told(f"{launch}: {'no result' if f'{launch}.json' not in files else 'done'}, {len(waiting)} to go")
    return FINDINGS if failed else CLEAN


def _single(plan: Plan, launch: Launch) -> bytes:
    return msgspec.json.encode(
        Plan(plan.version, plan.base, [launch], plan.schema, plan.gpu, plan.gpus, plan.left_out)
    )
