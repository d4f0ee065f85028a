"""One fact of a launch hidden at a time: what is still said must hold, and what isn't must name the fact.

As a program it prints the table: ``python -m tests.oracle_withhold [--cases N] [--facts PREFIX] [NAME ...]``
(``NAME`` such as ``0.5.23-h200``).
"""

from __future__ import annotations

import argparse
import collections
import gc
import json
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from indexer.explain.explanation import MAY, UNKNOWN, Explanation
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.source import open_source
from indexer.source.wheels import open_wheel_tree
from tests.oracle_resolve import Oracle, Tally, answer_of, compare_case, launch_of, open_oracle, withhold

RELEASES = ("0.5.5-h200", "0.5.9-h200", "0.5.12-h200", "0.5.17-h200", "0.5.20-h200", "0.5.23-h200")
MACHINE = {
    "gpu-memory": "GPU memory", "sm": "SM version", "gpu": "GPU", "cuda": "CUDA version", "nvml": "NVML",
}  # fmt: skip
PACKAGES = ("flashinfer", "sgl_kernel", "torch", "triton", "deep_gemm", "transformers")
VARIABLES = ("SGLANG_ENABLE_SPEC_V2", "SGLANG_IS_FLASHINFER_AVAILABLE", "SGLANG_USE_CPU_ENGINE")


def facts_of(oracle: Oracle) -> Iterator[tuple[str, str]]:
    """Yield (fact as ``withhold`` calls it, how an answer names it)."""
    yield from MACHINE.items()
    yield from ((f"package:{name}", f"package {name}") for name in PACKAGES)
    yield from ((f"env:{name}", f"env {name}") for name in VARIABLES)
    keys = {key for path in oracle.models.glob("*/config.json") for key in json.loads(path.read_text())}
    yield from ((f"config:{key}", f"config.json: {key}") for key in sorted(keys))


def cases_for(oracle: Oracle, fact: str, count: int) -> list[dict[str, Any]]:
    """Return cases that a fact could matter to, other ones for each fact and release."""
    cases = oracle.cases
    kind, _, name = fact.partition(":")
    if kind == "config":
        cases = [case for case in cases if name in _model_of(oracle, case)]
    elif kind == "env":
        setting = [case for case in cases if name in (case.get("env") or {})]
        cases = setting[: count // 2] + cases
    if not cases:
        return []
    start = zlib.crc32(f"{oracle.name} {fact}".encode()) % len(cases)
    step = max(1, len(cases) // count)
    picked = [cases[(start + index * step) % len(cases)] for index in range(min(count, len(cases)))]
    return list({case["id"]: case for case in picked}.values())


def _model_of(oracle: Oracle, case: dict[str, Any]) -> dict[str, Any]:
    words = case["argv"]
    for option, value in pairwise(words):
        if option in ("--model-path", "--model"):
            path = Path(value.replace("{M}", str(oracle.models))) / "config.json"
            return json.loads(path.read_text()) if path.is_file() else {}
    return {}


def withheld(
    oracle: Oracle, count: int, only: str = "", paths: int = 32
) -> Iterator[tuple[str, Tally, list[str]]]:
    """Yield, per fact: its name, how its cases compare, and answers that don't name what they lack."""
    tree = open_source(oracle.version)
    configurations = ConfigurationTree(open_wheel_tree("transformers", oracle.packages["transformers"]))
    gc.disable()
    for fact, named in facts_of(oracle):
        if not fact.startswith(only):
            continue
        tally, unnamed = Tally(), []
        for case in cases_for(oracle, fact, count):
            told = launch_of(oracle, case)
            answer = answer_of(oracle, tree, configurations, withhold(told, fact), paths)
            compare_case(oracle, case, answer, tally)
            if not _names(answer, named) and _less_certain(answer):
                whole = answer_of(oracle, tree, configurations, told, paths)
                if not _less_certain(whole) or answer.outcome != whole.outcome:
                    unnamed.append(f"{oracle.name} {case['id']}: {_reasons(answer)}")
            gc.collect()
        yield fact, tally, unnamed
    gc.enable()


def _names(answer: Explanation, named: str) -> bool:
    return any(named in f"{fact.what} {fact.reason}" for fact in answer.unknowns)


def _less_certain(answer: Explanation) -> bool:
    random = ("random_seed", "nccl_port")
    return answer.outcome == UNKNOWN or any(
        one.certainty == MAY for name, one in answer.fields.items() if name not in random
    )


def _reasons(answer: Explanation) -> str:
    return "; ".join(f"{fact.what}: {fact.reason}" for fact in answer.unknowns)[:300]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=RELEASES)
    parser.add_argument("--cases", type=int, default=2, help="of each release")
    parser.add_argument("--facts", default="")
    parser.add_argument("--paths", type=int, default=32)
    asked = parser.parse_args()
    shared = next(path for path in (Path("../shared"), Path("../../shared")) if path.is_dir()).resolve()
    totals: dict[str, collections.Counter[str]] = {}
    for name in asked.names:
        oracle = open_oracle(shared, name)
        for fact, tally, unnamed in withheld(oracle, asked.cases, asked.facts, asked.paths):
            total = totals.setdefault(fact, collections.Counter())
            total += tally.counts + collections.Counter(wrong=len(tally.wrong), unnamed=len(unnamed))
            for text in [*tally.wrong, *unnamed]:
                print(f"   {fact}: {text}"[:400], flush=True)
    columns = ("cases", "definite", "unknown", "fields right", "fields may", "wrong", "unnamed")
    print(f"{'hidden':44}", *(f"{column:>13}" for column in columns))
    for fact, total in totals.items():
        print(f"{fact:44}", *(f"{total[column]:>13}" for column in columns))
    whole = sum(totals.values(), collections.Counter())
    print(f"{'all':44}", *(f"{whole[column]:>13}" for column in columns))


if __name__ == "__main__":
    main()
