"""The real resolver's runs (``../shared/oracle/resolve``) against the interpreter's.

As a program it prints the table: ``python -m tests.oracle_resolve [--step N] [--withhold FACT] [NAME ...]``
(``NAME`` such as ``0.5.23-h200``; all by default).
"""

from __future__ import annotations

import argparse
import collections
import gc
import json
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from indexer.explain.explanation import MAY, REFUSED, STARTS, UNKNOWN, Explanation
from indexer.explain.join import join
from indexer.explain.resolve import resolve_path
from indexer.interpret.explore import explore
from indexer.interpret.launch import Gpu, Host, Launch
from indexer.interpret.running import run_with_deep_stack
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.source import open_source
from indexer.source.wheels import open_wheel_tree

GPUS = {
    "h200": Gpu("NVIDIA H200", (9, 0), 150_109_880_320, 143_771, "nvidia", 132, 149_109_880_320),
    "b200": Gpu("NVIDIA B200", (10, 0), 191_500_386_304, 183_359, "nvidia", 148, 190_500_386_304),
}
IMPORT_NAMES = {
    "PIL": "pillow", "yaml": "pyyaml", "zmq": "pyzmq", "IPython": "ipython", "pynvml": "nvidia-ml-py",
    "multipart": "python-multipart",
}  # fmt: skip
NOT_COMPARED = {"random_seed", "nccl_port"}
"""Fields that the oracle leaves out: they are random."""
DISREGARDED = ("not recognized", "not recognize")
"""Says only that the oracle's transformers did not know the model family."""


@dataclass
class Oracle:
    """One file of the oracle: its cases, and what was installed when they were run."""

    name: str
    version: str
    platform: str
    cases: list[dict[str, Any]]
    packages: dict[str, str | None]
    models: Path


def names(shared: Path) -> list[str]:
    """Return the names of all files, the main ones first."""
    folder = shared / "oracle" / "resolve"
    return [
        path.stem for path in [*sorted(folder.glob("*.jsonl")), *sorted((folder / "more").glob("*.jsonl"))]
    ]


def open_oracle(shared: Path, name: str, step: int = 1) -> Oracle:
    """Return the cases of a file that were run, every ``step``-th."""
    version, platform = name.rsplit("-", 1)
    folder = shared / "oracle" / "resolve"
    file = folder / f"{name}.jsonl"
    if not file.is_file():
        file = folder / "more" / f"{name}.jsonl"
    lines = file.read_text().splitlines()
    meta = json.loads(lines[0])["meta"]
    cases = [case for case in map(json.loads, lines[1:]) if case.get("stage") != "not run"]
    return Oracle(
        name, version, platform, cases[::step], _packages(shared, version, meta), shared / "oracle" / "models"
    )


def _packages(shared: Path, version: str, meta: dict[str, Any]) -> dict[str, str | None]:
    tools = shared / "oracle" / "tools"
    found: dict[str, str | None] = {}
    for line in (tools / "packages.txt").read_text().splitlines():
        name, _, installed = line.strip().partition("==")
        found[name.lower()] = found[name.lower().replace("-", "_")] = installed
    for imported, distribution in IMPORT_NAMES.items():
        found[imported] = found.get(distribution)
    for name in ("huggingface_hub", "huggingface-hub", "safetensors", "tokenizers"):
        found.setdefault(name, "")  # installed beside each transformers
    for line in (tools / "matrix.txt").read_text().splitlines():
        release, transformers, triton = line.split()
        if release == version:
            found["transformers"] = transformers
            if triton != "-":
                found["triton"] = triton
    for stub in meta.get("stubbed_modules_installed", ()):
        found[stub] = "0.0.0+stub"
    return found


def launch_of(oracle: Oracle, case: dict[str, Any]) -> Launch:
    """Return all facts of a case."""
    argv = tuple(word.replace("{M}", str(oracle.models)) for word in case["argv"])
    facts = Launch(
        argv,
        dict(case.get("env") or {}),
        packages=oracle.packages,
        packages_complete=True,
        folders=(oracle.models,),
        python=(3, 11, 7),
        nvml=False,
        host=Host(amx=False),
    )
    if oracle.platform == "cpu":
        # The memory and CPUs of the oracle's host are not recorded: they stay unknown.
        return facts
    return replace(facts, gpu=GPUS[oracle.platform], gpu_count=8, cuda="13.0")


def withhold(launch: Launch, fact: str) -> Launch:
    """Return the launch with one fact hidden."""
    gpu = launch.gpu
    if fact == "gpu-memory" and gpu is not None:
        return replace(launch, gpu=replace(gpu, memory_bytes=None, smi_mib=None, free_bytes=None))
    if fact == "sm" and gpu is not None:
        return replace(launch, gpu=replace(gpu, capability=None))
    if fact == "gpu" and gpu is not None:
        return replace(launch, gpu=None, gpu_known=False)
    if fact == "cuda":
        return replace(launch, cuda=None)
    if fact == "nvml":
        return replace(launch, nvml=None)
    if fact.startswith("env:"):
        name = fact[4:]
        rest = {key: value for key, value in launch.env.items() if key != name}
        return replace(launch, env=rest, env_unknown=frozenset({name}))
    if fact.startswith("package:"):
        name = fact[8:]
        rest = {key: value for key, value in launch.packages.items() if key.replace("-", "_") != name}
        return replace(launch, packages=rest, packages_unknown=frozenset({name}))
    if fact.startswith("config:"):
        return replace(launch, hidden_keys=frozenset({fact[7:]}))
    return launch


@dataclass
class Tally:
    """Counts of one comparison, and what is wrong in words."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    wrong: list[str] = field(default_factory=list)
    unknown: collections.Counter[str] = field(default_factory=collections.Counter)


def answer_of(oracle: Oracle, tree: Any, configurations: Any, launch: Launch, paths: int) -> Explanation:
    path = partial(resolve_path, tree, launch, configurations)
    found = run_with_deep_stack(partial(explore, path, paths))
    return join(oracle.version, found, [])


def compare(oracle: Oracle, fact: str | None = None, paths: int = 24) -> Tally:
    """Return how every case of a file compares, with one fact withheld if ``fact`` names one."""
    tree = open_source(oracle.version)
    configurations = ConfigurationTree(open_wheel_tree("transformers", oracle.packages["transformers"]))
    tally = Tally()
    gc.disable()
    try:
        for number, case in enumerate(oracle.cases):
            launch = launch_of(oracle, case)
            if fact:
                launch = withhold(launch, fact)
            compare_case(oracle, case, answer_of(oracle, tree, configurations, launch, paths), tally)
            if number % 20 == 19:
                gc.collect()
    finally:
        gc.enable()
    return tally


def compare_case(oracle: Oracle, case: dict[str, Any], answer: Explanation, tally: Tally) -> None:
    """Add one case to the tally."""
    counts = tally.counts
    counts["cases"] += 1
    checked = case.get("check_server_args", "ok")
    starts = case["ok"] and checked == "ok"
    error = case.get("exception") or (checked if checked != "ok" else None)
    where = f"{oracle.name} {case['id']}"
    if error and any(text in error["message"] for text in DISREGARDED) and answer.outcome == UNKNOWN:
        counts["disregarded"] += 1
        return
    if answer.outcome == UNKNOWN:
        for fact in answer.unknowns:
            tally.unknown[f"{fact.what}: {fact.reason}"[:110]] += 1
        counts["unknown"] += 1
    else:
        counts["definite"] += 1
        if (answer.outcome == STARTS) != starts:
            tally.wrong.append(f"{where}: {answer.outcome}, really {error}")
        elif answer.outcome == REFUSED:
            _compare_refusal(oracle, where, error, answer, tally)
    if case["ok"]:
        _compare_fields(oracle, where, case, answer, tally)
    real = set(case["warnings"])
    for event in answer.events:
        if event.level in ("warning", "error", "critical") and event.certainty != MAY:
            said = _portable(event.message, oracle)
            if said[:600] in real:
                counts["warnings right"] += 1
            else:
                tally.wrong.append(f"{where}: warning {said[:120]!r} was not given")
    counts["warnings real"] += len(real)


def _compare_refusal(oracle: Oracle, where: str, error: Any, answer: Explanation, tally: Tally) -> None:
    refusals = [answer.refusal, *answer.refusals] if answer.refusal else answer.refusals
    for refusal in refusals:
        at = f"{refusal.at.path.removeprefix('python/')}:{refusal.at.line}" if refusal.at else None
        if refusal.exception == error["class"] and at == error.get("raised_at"):
            tally.counts["refusals right"] += 1
            expected = error.get("stderr_last") or error["message"]
            said = _portable(refusal.message, oracle)
            if said.strip() != expected.strip() and "(?)" not in said and refusal.certainty != MAY:
                tally.counts["messages differ"] += 1
                tally.unknown[f"message {said[:60]!r} / {expected[:60]!r}"] += 1
            return
    said = [(one.exception, one.at.line if one.at else None, one.message[:80]) for one in refusals]
    tally.wrong.append(f"{where}: refused by {said}, really {error['class']} at {error.get('raised_at')}")


def _compare_fields(
    oracle: Oracle, where: str, case: dict[str, Any], answer: Explanation, tally: Tally
) -> None:
    if not answer.fields:
        return
    changed = case["changed_by_resolver"]
    for name, (_, real) in changed.items():
        found = answer.fields.get(name)
        if found is None:
            if answer.outcome == STARTS:
                tally.wrong.append(f"{where}: {name} unchanged, really {real}")
            continue
        value = _short(_portable(found.resolved, oracle))
        if found.certainty == MAY:
            tally.counts["fields may"] += 1
        elif value == real:
            tally.counts["fields right"] += 1
        else:
            tally.wrong.append(f"{where}: {name} = {value!r}, really {real!r}")
    paths = {"model_path", "tokenizer_path", "served_model_name"}
    for name, found in answer.fields.items():
        if name not in changed and name not in NOT_COMPARED | paths and found.certainty != MAY:
            tally.wrong.append(f"{where}: {name} changed to {found.resolved!r}, really unchanged")


def _portable(value: Any, oracle: Oracle) -> Any:
    if isinstance(value, str):
        return value.replace(str(oracle.models), "{M}")
    if isinstance(value, list):
        return [_portable(item, oracle) for item in value]
    if isinstance(value, dict):
        return {name: _portable(item, oracle) for name, item in value.items()}
    return value


def _short(value: Any) -> Any:
    if isinstance(value, list) and len(value) > 24 and all(isinstance(item, int) for item in value):
        return {"int_list": {"first": value[:6], "last": value[-3:], "len": len(value), "max": max(value)}}
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    return value


COLUMNS = (
    "cases", "definite", "unknown", "disregarded", "refusals right", "fields right", "fields may",
    "warnings right", "warnings real",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--withhold")
    parser.add_argument("--paths", type=int, default=24)
    asked = parser.parse_args()
    shared = next(path for path in (Path("../shared"), Path("../../shared")) if path.is_dir()).resolve()
    print(f"{'run':22}", *(f"{column:>14}" for column in COLUMNS), f"{'wrong':>6}", flush=True)
    for name in asked.names or names(shared):
        tally = compare(open_oracle(shared, name, asked.step), asked.withhold, asked.paths)
        print(
            f"{name:22}",
            *(f"{tally.counts[one]:>14}" for one in COLUMNS),
            f"{len(tally.wrong):>6}",
            flush=True,
        )
        for text in tally.wrong[:8]:
            print("   wrong:", text[:300], flush=True)
        for text, count in tally.unknown.most_common(6):
            print(f"   {count} x {text}", flush=True)


if __name__ == "__main__":
    main()
