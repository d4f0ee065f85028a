"""Run a plan on a host reached by OpenSSH; nothing is left behind there."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from indexer.errors import CannotError
from indexer.validate.hosts.local import follow

SSH = ["ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15"]
PREFIX = "sglang-indexer-validate."


def run(
    host: str,
    bundle: Path,
    out: Path,
    python: str | None,
    sglang: str | None,
    enter: str | None,
    options: list[str],
    told: Callable[[str], None],
) -> int:
    """Copy ``bundle`` to ``host``, run it there, bring the results back, remove the copy.

    ``enter`` is a command that leads into a container (``docker exec -i NAME``); everything then
    happens inside. Results come back also when the run ends early.

    Raises:
        CannotError: ssh or something on the host failed, in its own words.
    """
    folder = _call(host, enter, f"mktemp -d -t {PREFIX}XXXXXX").strip()
    if PREFIX not in folder:
        raise CannotError(f"{host}: no temporary folder could be made there")
    there = shlex.quote(folder)
    try:
        packed = subprocess.run(["tar", "-C", str(bundle), "-cf", "-", "."], capture_output=True, check=True)
        _call(host, enter, f"tar -C {there} -xf -", packed.stdout)
        variables = [f"PYTHON={shlex.quote(python)}"] if python else []
        variables += [f"SGLANG={shlex.quote(sglang)}"] if sglang else []
        script = " ".join([*variables, "sh", f"{there}/run.sh", *map(shlex.quote, options)])
        try:
            return follow([*SSH, host, _inside(enter, script)], None, told)
        finally:
            _fetch(host, enter, there, out)
    finally:
        _call(host, enter, f"rm -rf {there}")


def _inside(enter: str | None, script: str) -> str:
    return f"{enter} sh -c {shlex.quote(script)}" if enter else script


def _call(host: str, enter: str | None, script: str, data: bytes = b"") -> str:
    done = subprocess.run([*SSH, host, _inside(enter, script)], input=data, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise CannotError(f"{host}: {said[-1] if said else f'ssh ended with {done.returncode}'}")
    return done.stdout.decode(errors="replace")


def _fetch(host: str, enter: str | None, there: str, out: Path) -> None:
    """Bring the results back; a run that never began has none."""
    out.mkdir(parents=True, exist_ok=True)
    script = f"[ -d {there}/results ] && tar -C {there}/results -cf - . || tar -cf - -T /dev/null"
    done = subprocess.run([*SSH, host, _inside(enter, script)], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["tar", "-C", str(out), "-xf", "-"], input=done.stdout, check=True)
