"""The user's own pip: its configuration decides mirrors, proxies and certificates."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from indexer.errors import CannotError, UsageError

PYTHON_VERSIONS = ("3.12", "3.13", "3.11", "3.10")
"""Interpreters to ask wheels for, in turn: the wheel is read, never run, so any will do."""

PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in (39, 35, 34, 31, 28, 27, 17)),
    "manylinux2014_x86_64",
    "linux_x86_64",
)
"""Platform tags to accept, whatever machine this is: SGLang publishes Linux wheels."""

_NETWORK = re.compile(
    r"connection broken|connection (?:refused|reset|error)|name resolution|getaddrinfo|timed? ?out"
    r"|network is unreachable|proxyerror|ssl(?:error|cert)|max retries|temporary failure",
    re.IGNORECASE,
)
_OFFERED = re.compile(r"\(from versions: (?P<versions>[^)]*)\)")


@lru_cache(maxsize=1)
def pip_command() -> tuple[str, ...]:
    """Return the command that runs pip: this interpreter's, else one on PATH, else through uv.

    Raises:
        CannotError: there is none.
    """
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        return (sys.executable, "-P", "-m", "pip")  # the current folder may be anybody's
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return (found,)
    if uv := shutil.which("uv"):
        return (uv, "tool", "run", "pip")
    raise CannotError(
        "pip was found neither in this Python nor on PATH",
        "install it (python -m ensurepip) or put the wheel into the cache folder by hand",
    )


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [*pip_command(), *arguments, "--disable-pip-version-check", "--no-input"]
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise CannotError(f"pip could not be started ({error})") from error


def _target(python: str) -> list[str]:
    digits = python.replace(".", "")
    platforms = [f"--platform={tag}" for tag in PLATFORMS]
    abis = [f"--abi={abi}" for abi in (f"cp{digits}", "abi3", "none")]
    return ["--only-binary=:all:", f"--python-version={python}", "--implementation=cp", *platforms, *abis]


def download(name: str, version: str, folder: Path) -> Path:
    """Download the wheel of ``name==version`` into ``folder`` and return its path.

    Raises:
        UsageError: the index answers but has no such version.
        CannotError: no pip, no network, or no wheel that can be read here.
    """
    output = ""
    for python in PYTHON_VERSIONS:
        done = _run(
            [
                "download",
                f"{name}=={version}",
                "--no-deps",
                f"--dest={folder}",
                "--progress-bar=off",
                *_target(python),
            ]
        )
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode == 0 and wheels:
            return wheels[0]
        # All of it is kept: each Python is offered other releases.
        output += f"{done.stdout}{done.stderr}\n"
        if _NETWORK.search(output):
            break
    raise _failure(name, version, output)


def _failure(name: str, version: str, output: str) -> CannotError | UsageError:
    last = next((line for line in reversed(output.splitlines()) if line.startswith("ERROR")), "")
    versions = _offered(output)
    if versions and version not in versions:
        newest = ", ".join(versions[-5:])
        return UsageError(f"{name} has no release {version} on the package index", f"newest: {newest}")
    if "No space left" in output:
        return CannotError(f"{name} {version}: the disk is full", "free some space and try again")
    if _NETWORK.search(output):
        return CannotError(
            f"{name} {version} could not be downloaded: the package index can't be reached",
            "check the network or pip's proxy and index settings (pip config list)",
        )
    if "(from versions: none)" in output and not versions:
        # With retries off pip says no more than this of an index that it can't reach.
        return CannotError(
            f"{name} {version} could not be downloaded: the package index can't be reached, or has no {name}",
            "check the network or pip's proxy and index settings (pip config list)",
        )
    return CannotError(
        f"{name} {version} could not be downloaded with pip ({last.removeprefix('ERROR: ') or 'no message'})",
        f"try yourself: pip download --no-deps {name}=={version}",
    )


def _offered(output: str) -> list[str]:
    """Return the versions that pip, asked for several Pythons, was offered, oldest first."""
    listed = {text.strip() for found in _OFFERED.finditer(output) for text in found["versions"].split(",")}
    return _sorted(listed - {"none", ""})


def _sorted(texts: Iterable[str]) -> list[str]:
    from packaging.version import InvalidVersion, Version

    versions = []
    for text in texts:
        try:
            versions.append(Version(text))
        except InvalidVersion:
            continue
    return [str(version) for version in sorted(versions)]


def released_versions(name: str) -> list[str]:
    """Return all versions the index has wheels for, oldest first, without pre-releases.

    Raises:
        CannotError: the index can't be asked.
    """
    done = _run(["index", "versions", name, *_target(PYTHON_VERSIONS[0])])
    found = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
    if not found:
        raise _failure(name, "(any version)", done.stdout + done.stderr)
    return _sorted(text.strip() for text in found[1].split(","))
