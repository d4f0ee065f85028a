"""Members and predicates of every release equal what the imported enum or registry says."""

from __future__ import annotations

import json

import pytest

from indexer.extract.algorithms import extract_algorithms
from indexer.syntax.graph import ModuleGraph

pytestmark = [pytest.mark.oracle, pytest.mark.release]

QUICK = ["0.4.6.post5", "0.5.5", "0.5.9", "0.5.12", "0.5.17", "0.5.23"]
OTHERS = [
    "0.4.1", "0.4.2", "0.4.5.post3", "0.4.10.post2", "0.5.2", "0.5.3.post3", "0.5.6.post2", "0.5.10",
    "0.5.13.post1", "0.5.14", "0.5.18", "0.5.20", "0.5.21",
]  # fmt: skip


@pytest.mark.parametrize("version", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_members_predicates_and_spellings(version, shared, release_tree):
    oracle = json.loads((shared / "oracle" / f"flags-{version}.json").read_text())["speculative_algorithms"]
    registry, found = extract_algorithms(ModuleGraph(release_tree(version)))
    members = oracle.get("members", {}) if oracle else {}
    assert {one.name for one in found} == set(members)
    if not members:
        return
    path = registry.declared_at.path.removeprefix("python/")
    assert f"{path}:{registry.declared_at.line}" == oracle["source"]
    decided = 0
    for algorithm in found:
        for name, value in members[algorithm.name]["predicates"].items():
            assert algorithm.predicates[name] == value, (algorithm.name, name)
            assert algorithm.predicates_at[name].line == oracle["predicate_source_lines"][name]
            decided += 1
        if algorithm.name != "NONE":
            assert algorithm.workers, f"{algorithm.name} runs some worker"
    spellings = {alias.name: one.name for one in found for alias in one.aliases}
    for name, target in oracle["from_string"].items():
        if isinstance(target, str) and name not in members and name.isupper():
            assert spellings[name] == target
    for name in oracle["cli_flag"]["choices"] or []:
        assert name in spellings or any(one.name == name and one.cli and one.cli_at for one in found)
    print(f"{version}: {len(found)} algorithms, {decided} predicate values, 0 wrong")
