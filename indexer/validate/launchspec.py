"""A launch plan: what is to be started, where, and what is expected of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import CannotError
from indexer.knowledge.schema import Flag, Snapshot

PLAN_SCHEMA = 1
REPEAT_MARK = "~"
"""``NAME~2`` is a repetition of launch ``NAME``: their outcomes must agree."""
ALGORITHM = "--speculative-algorithm"
CHAIN = ("--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens")
"""The three sizes of a draft chain or tree, one part of an id where all are given."""


class Launch(msgspec.Struct, omit_defaults=True):
    """One server to start: a model folder, flags beyond the plan's base, environment.

    ``margins`` asks a baseline for the gaps between its two best tokens, ``sample`` for a sampled
    request, ``brief`` leaves the throughput runs out, ``timeout`` is the seconds until ready,
    ``without`` names base flags to leave out.
    """

    id: str
    model: str
    flags: list[str]
    kind: str = "serve"
    why: str = ""
    env: dict[str, str] = {}
    margins: bool = False
    sample: bool = False
    brief: bool = False
    timeout: float | None = None
    without: list[str] = []


class Plan(msgspec.Struct, omit_defaults=True):
    """Launches of one version, in the order in which they are started."""

    version: str
    base: list[str]
    launches: list[Launch]
    schema: int = PLAN_SCHEMA
    gpu: str | None = None
    gpus: int = 1
    left_out: list[tuple[str, str]] = []
    """What can't be exercised, with the reason."""


def read_plan(path: Path) -> Plan:
    """Read a plan file.

    Raises:
        CannotError: it is not there or no plan.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Plan)
    except OSError as error:
        raise CannotError(
            f"{path}: {error.strerror}", "write one with `indexer validate plan -o FILE`"
        ) from None
    except msgspec.MsgspecError as error:
        raise CannotError(f"{path}: not a launch plan ({error})") from None


def launch_id(model: str, flags: list[str], env: Mapping[str, str] | None = None) -> str:
    """Return a launch's name: a function of what it is, whatever the order of its flags.

    Model, algorithm, draft model, chain and attention backend come first, then the other flags by
    name, then environment variables: ``dense-succ.ngram.triton.page-size-64``.
    """
    given = _options(flags)
    parts = [model]
    # Ids are lower case, for file systems that do not tell; an algorithm that is given so says it.
    parts += [name if name.isupper() else f"{name}-as-given" for name in given.pop(ALGORITHM, [])]
    parts += given.pop("--speculative-draft-model-path", [])
    if all(option in given for option in CHAIN):
        parts.append("-".join(value for option in CHAIN for value in given.pop(option)))
    parts += given.pop("--attention-backend", [])
    for option, values in sorted(given.items()):
        parts.append("-".join([option.removeprefix("--").removeprefix("speculative-"), *values]))
    parts += [f"{name}-{value}" for name, value in sorted((env or {}).items())]
    return ".".join(re.sub(r"[^A-Za-z0-9_.-]", "-", part.lower()) for part in parts)


def _options(flags: list[str]) -> dict[str, list[str]]:
    """Return ``option: values``, paths by their last part; of two equal options the last counts."""
    given: dict[str, list[str]] = {}
    values: list[str] = []
    for word in flags:
        if word.startswith("--"):
            values = given[word] = []
        else:
            values.append(word.rpartition("/")[2])
    return given


def base_name(launch_id: str) -> str:
    """Return a launch's name without its repetition number."""
    return launch_id.partition(REPEAT_MARK)[0]


def merged_flags(plan: Plan, launch: Launch) -> list[str]:
    """Return the base flags that the launch does not set itself, then its own."""
    own = {flag for flag in launch.flags if flag.startswith("--")} | set(launch.without)
    kept: list[str] = []
    skip = False
    for flag in plan.base:
        if flag.startswith("--"):
            skip = flag in own
        if not skip:
            kept.append(flag)
    return [*kept, *launch.flags]


def arguments(plan: Plan, launch: Launch) -> list[str]:
    """Return the server's argument list, with ``{models}`` for the models folder."""
    return ["--model-path", "{models}/" + launch.model, *merged_flags(plan, launch)]


def asked_values(flags: list[str], snapshot: Snapshot) -> dict[str, Any]:
    """Return ``dest: value`` for a flag list, read as the snapshot's parser would."""
    by_option = {option: flag for flag in snapshot.flags for option in flag.option_strings}
    asked: dict[str, Any] = {}
    position = 0
    while position < len(flags):
        option = flags[position]
        flag = by_option.get(option)
        position += 1
        if flag is None:
            continue
        values = []
        while position < len(flags) and not flags[position].startswith("--"):
            values.append(_value(flags[position], flag))
            position += 1
        if "True" in flag.action or not values:
            denied = "BooleanOptional" in flag.action and option.startswith("--no-")
            asked[flag.dest] = "False" not in flag.action and not denied
        else:
            asked[flag.dest] = values if flag.nargs in ("+", "*") else values[0]
    return asked


def _value(text: str, flag: Flag) -> Any:
    kind = flag.type if isinstance(flag.type, str) else None
    try:
        return {"int": int, "float": float}.get(kind or "", str)(text)
    except ValueError:
        return text
