"""A self-contained folder that runs a plan on a host with nothing of this project on it.

It holds the plan, the probe, the model generator, ``run.sh`` and, when a wheel list is given, the
trimmed wheels as parts of a given size. ``run.sh`` unpacks what is there, makes the models, runs the
probe and leaves ``results/``, which ``indexer validate collect`` turns into records.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

import indexer
from indexer.errors import UsageError
from indexer.validate import parts, wheels
from indexer.validate.launchspec import Plan

HERE = Path(__file__).parent
CODE = ("__init__.py", "probe.py", "resolver.py", "described_gpu.py", "unpack.py")
RUN = """#!/bin/sh
# Runs the plan here. usage: sh run.sh [probe options, such as --width 8 --deadline 600]
# PYTHON names the interpreter, SGLANG a folder with sglang in it (a checkout's python/), MODELS and
# OUT the folders for models and results.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
PYTHON=${PYTHON:-python3}
SITE=${SITE:-$here/site}
if ls -d parts/p[0-9][0-9] >/dev/null 2>&1; then
    [ -d "$SITE" ] || { "$PYTHON" code/indexer/validate/unpack.py add "$SITE" parts/p[0-9][0-9]
                        "$PYTHON" code/indexer/validate/unpack.py join "$SITE"; }
    PYTHONPATH="$SITE${PYTHONPATH:+:$PYTHONPATH}"; export PYTHONPATH
fi
[ -n "${SGLANG:-}" ] && { PYTHONPATH="$SGLANG${PYTHONPATH:+:$PYTHONPATH}"; export PYTHONPATH; }
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
CACHE=${CACHE:-$here/cache}
export TRITON_CACHE_DIR="$CACHE/triton" TVM_FFI_CACHE_DIR="$CACHE/tvm"
export FLASHINFER_WORKSPACE_BASE="$CACHE/flashinfer"
MODELS=${MODELS:-$here/models}
OUT=${OUT:-$here/results}
mkdir -p "$OUT"
[ -d "$MODELS" ] || (cd code && "$PYTHON" -m indexer.validate.models "$MODELS" >"$here/models.json")
cp "$here/models.json" "$OUT/../models.json" 2>/dev/null || true
exec "$PYTHON" code/indexer/validate/probe.py run --plan plan.json --models "$MODELS" \\
    --out "$OUT" --site "$SITE" "$@"
"""


def write_bundle(
    target: Path,
    plan: Plan,
    wheel_list: Path | None = None,
    sm: int | None = None,
    part_bytes: int = 1 << 30,
    python: str = "3.12",
    find_links: list[Path] | None = None,
    quick: bool = False,
) -> list[Path]:
    """Write a bundle into the new folder ``target``; return its parts.

    Raises:
        UsageError: ``target`` is there already, or the wheel list is no wheel list.
        CannotError: a wheel can't be had.
    """
    if target.exists():
        raise UsageError(f"{target} exists", "name a new folder")
    code = target / "code" / "indexer" / "validate"
    code.mkdir(parents=True)
    shutil.copy(Path(indexer.__file__), target / "code" / "indexer" / "__init__.py")
    for name in CODE:
        shutil.copy(HERE / name, code / name)
    shutil.copytree(HERE / "models", code / "models", ignore=shutil.ignore_patterns("__pycache__"))
    (target / "plan.json").write_bytes(msgspec.json.encode(plan))
    (target / "run.sh").write_text(RUN, "utf-8")
    if wheel_list is None:
        return []
    listed = wheels.read_list(wheel_list)
    work = target / "building"
    found = wheels.fetch(listed.pins, work / "wheels", python, find_links or [])
    wheels.unpack(found, work / "site", python)
    wheels.trim(work / "site", listed.drop, sm)
    made = parts.pack(work / "site", target / "parts", part_bytes, quick=quick)
    shutil.rmtree(work)
    return made
