"""Run a plan on this machine, in a SGLang environment of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from indexer.errors import CLEAN, FINDINGS, CannotError

PROBE = Path(__file__).parent.parent / "probe.py"


def probe_command(python: str, plan: Path, models: Path, out: Path, options: list[str]) -> list[str]:
    """Return the probe's command line."""
    return [
        python,
        str(PROBE),
        "run",
        "--plan",
        str(plan),
        "--models",
        str(models),
        "--out",
        str(out),
        *options,
    ]


def run(
    plan: Path,
    models: Path,
    out: Path,
    python: str | None,
    sglang: Path | None,
    options: list[str],
    told: Callable[[str], None],
) -> int:
    """Run the probe to its end, passing each of its lines to ``told``; return CLEAN or FINDINGS.

    An interrupt here is passed on, so that the probe ends its servers.

    Raises:
        CannotError: the probe could not run (no GPU, another SGLang, a full disk).
    """
    environment = dict(os.environ)
    if sglang is not None:
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(sglang), environment.get("PYTHONPATH")])
        )
    command = probe_command(python or sys.executable, plan, models, out, options)
    return follow(command, environment, told)


def follow(command: list[str], environment: dict[str, str] | None, told: Callable[[str], None]) -> int:
    """Run a command, pass its lines on, and turn its exit into ours."""
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise CannotError(f"{command[0]}: {error.strerror}") from None
    last = ""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            last = line.strip() or last
            told(line.rstrip())
        code = process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    if code in (CLEAN, FINDINGS) and not last.startswith("probe: no "):
        if code == FINDINGS and "launches done" not in last:
            raise CannotError(last.removeprefix("probe: ") or "the probe failed")
        return code
    raise CannotError(last.removeprefix("probe: ") or f"the probe ended with {code}")
