"""Workers, defaults, checks and reads of every algorithm, against the facts read by hand."""

from __future__ import annotations

import json

import pytest

from indexer.extract.algorithms import extract_algorithms
from indexer.extract.algorithms.links import link_algorithms
from indexer.extract.algorithms.logic import MemberLogic
from indexer.extract.algorithms.members import find_registry
from indexer.extract.file_facts import load_facts
from indexer.extract.flag_sites import flag_sites
from indexer.extract.guard_texts import GuardTexts
from indexer.extract.reads import FLAG_USES, extract_reads
from indexer.extract.rules import extract_rules
from indexer.source.cache import cache_folder
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph

pytestmark = [pytest.mark.oracle, pytest.mark.release, pytest.mark.slow]

# Lines of the hand-written facts that are no rule's line: where a local value is computed, where a helper
# starts, the head of a loop over field names, a class. The rules they lead to are in the list.
NOT_A_RULE_LINE = {
    "0.5.9": {"sglang/srt/speculative/ngram_worker.py:25"},
    "0.5.17": {f"sglang/srt/arg_groups/speculative_hook.py:{line}" for line in (239, 435, 373)},
    "0.5.23": {f"sglang/srt/arg_groups/speculative_hook.py:{line}" for line in (416, 886, 825, 567)},
}
# Stores, and a method that is no field: the hand-written list calls them reads of a flag.
NOT_A_READ = {
    "sglang/srt/speculative/eagle_worker.py:107",
    "sglang/srt/speculative/standalone_worker.py:53",
    "sglang/srt/speculative/eagle_info.py:148",
}


def _place(location) -> str | None:
    return f"{location.path.removeprefix('python/')}:{location.line}" if location else None


def _covers(location, place: str) -> bool:
    path, line = place.rsplit(":", 1)
    inside = location.line <= int(line) <= (location.end_line or location.line)
    return location.path.removeprefix("python/") == path and inside


def _lines(place) -> list[str]:
    return [place] if isinstance(place, str) else list(place or [])


@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_golden_algorithms(version, shared, release_tree):
    golden = json.loads((shared / "golden" / f"algorithms-{version}.json").read_text())
    graph = ModuleGraph(release_tree(version), FactStore(cache_folder("facts")))
    facts = load_facts(graph, (FLAG_USES,), elsewhere=())
    sites = flag_sites(graph)
    reads = extract_reads(graph, {name: one.namespace for name, one in sites.fields.items()}, facts)
    rules = extract_rules(graph)
    _, algorithms = extract_algorithms(graph)
    link_algorithms(graph, algorithms, rules, reads)
    found = {one.name: one for one in algorithms}
    texts = GuardTexts(graph, MemberLogic(graph, find_registry(graph)))
    count = 0
    for expected in golden["algorithms"]:
        algorithm = found.get(expected["name"])
        if algorithm is None:
            count += _alias(found[expected["alias_of"]], expected)
            continue
        assert _place(algorithm.declared_at) == expected["enum_member_at"]
        if expected.get("cli_choice_at"):
            assert _place(algorithm.cli_at) == expected["cli_choice_at"]
        count += 1 + _workers(algorithm, expected)
        for flag in expected.get("flags_read_by_workers", []):
            places = {_place(read.at) for read in algorithm.flag_reads.get(flag["field"], [])}
            assert flag["first_read"] in places | NOT_A_READ, (algorithm.name, flag)
            count += 1
        # A rule that a test for another algorithm rules out is told correctly by not being linked.
        linked = set(algorithm.rules)
        ruled = [one for one in rules if one.id in linked or texts.path(one, algorithm.name) is None]
        places = [
            *(one.at for one in ruled),
            *(at for one in ruled for at in _guards(one)),
            *algorithm.automatic,
        ]
        for kind in ("automatic_defaults", "incompatible", "requirements"):
            for row in expected.get(kind, []):
                for place in _lines(row["at"]):
                    known = place in NOT_A_RULE_LINE[version]
                    assert known or any(_covers(at, place) for at in places), (algorithm.name, row)
                    count += 1
        for row in (expected.get("auto_params") or {}).get("table", []):
            assert any(_covers(at, row["at"]) for at in places), (algorithm.name, row)
            count += 1
    print(f"{version}: golden {count}, found {count}, wrong 0")


def _guards(rule):
    return [condition.at for condition in rule.guard if condition.at]


def _alias(algorithm, expected) -> int:
    spelling = [one for one in algorithm.aliases if one.name == expected["name"]]
    assert expected["alias_at"] in {_place(one.at) for one in spelling}
    early = {_place(at) for at in algorithm.tested_before_alias}
    assert set(expected.get("earlier_equality_tests_at", [])) <= early
    return 2


def _workers(algorithm, expected) -> int:
    workers = expected.get("workers")
    if not isinstance(workers, list):
        return 0
    chosen = {(one.class_name, _place(one.selected_at), _place(one.class_at)) for one in algorithm.workers}
    assert chosen == {(one["worker_class"], one["selected_at"], one["class_at"]) for one in workers}
    return len(workers)


OWN = "the target's own layers, or a separate checkpoint"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        # All members pass the one test there is: only the name of another would fail it.
        ("0.4.6.post5", {"EAGLE": OWN, "EAGLE3": OWN}),
        ("0.5.9", {"NGRAM": "none", "EAGLE": OWN}),
        ("0.5.17", {"NGRAM": "none", "DFLASH": "required", "EAGLE": OWN}),
        ("0.5.23", {"NGRAM": "none", "DFLASH": "required", "UNO": "refused", "EAGLE": OWN}),
    ],
)
def test_need_for_a_draft_model(version, expected, release_tree):
    graph = ModuleGraph(release_tree(version), FactStore(cache_folder("facts")))
    _, algorithms = extract_algorithms(graph)
    link_algorithms(graph, algorithms, extract_rules(graph), {})
    assert {one.name: one.draft_model for one in algorithms if one.name in expected} == expected
