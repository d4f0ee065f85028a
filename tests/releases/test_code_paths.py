"""The generated paths of real releases against steps read by hand, and against the sources they cite."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.extract.code_paths import extract_code_paths
from indexer.extract.code_paths.extract import code_path_variant
from indexer.knowledge.path_variants import hybrid_of
from indexer.knowledge.schema import CodePath, Location, Step
from indexer.snapshots import get_snapshot
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore

pytestmark = pytest.mark.release

SECTIONS = {
    "decode_verify_commit": "decode-mtp-hybrid",
    "prefill_extend": "prefill-hybrid",
    "cuda_graph": "cuda-graph-verify",
    "memory": "state-memory",
}
QUICK, SLOW = "0.5.9", ["0.5.17", "0.5.23"]
GOLDEN = [QUICK, *(pytest.param(version, marks=pytest.mark.slow) for version in SLOW)]
HELD_OUT = [
    pytest.param(version, marks=pytest.mark.slow)
    for version in ["0.5.5", "0.5.7", "0.5.8", "0.5.10", "0.5.12", "0.5.13", "0.5.16", "0.5.20", "0.5.22"]
]
"""Releases without golden steps; 0.5.5–0.5.12 were complete on decode the first time they were read."""


@pytest.fixture(scope="module")
def paths(release_tree: Callable[[str], SourceTree]) -> Callable[[str], dict[str, CodePath]]:
    store = FactStore(cache_folder("facts"))

    def of(version: str) -> dict[str, CodePath]:
        return {path.name: path for path in extract_code_paths(release_tree(version), store)}

    return of


def lines_of(step: Step) -> set[tuple[str, int]]:
    """What counts as a step's line: its guards, witnesses, call, class and def lines, and anchors."""
    places = [guard.at for guard in step.guards] + [step.call_at, *step.witnesses, *step.anchors]
    found = {(at.path, n) for at in places if at for n in range(at.line, (at.end_line or at.line) + 1)}
    found.add((step.at.path, step.at.line))
    if step.class_at:
        found.add((step.class_at.path, step.class_at.line))
    return found


def golden(shared: Path, version: str, section: str) -> list[tuple[str, tuple[str, int]]]:
    facts = json.loads((shared / "golden" / f"hybrid-{version}.json").read_text())
    steps = []
    for step in facts["code_path"][section]:
        path, _, line = step["at"].rpartition(":")
        steps.append((step["function"], (f"python/{path}", int(line))))
    return steps


@pytest.mark.oracle
@pytest.mark.parametrize("version", GOLDEN)
@pytest.mark.parametrize("section", SECTIONS)
def test_every_golden_step_is_on_its_path(version: str, section: str, paths, shared: Path) -> None:
    generated = [lines_of(step) for step in paths(version)[SECTIONS[section]].steps]
    missed = [
        name for name, at in golden(shared, version, section) if not any(at in one for one in generated)
    ]
    assert missed == []


@pytest.mark.oracle
@pytest.mark.parametrize("version", GOLDEN)
def test_decode_steps_are_in_golden_order(version: str, paths, shared: Path) -> None:
    generated = [lines_of(step) for step in paths(version)["decode-mtp-hybrid"].steps]
    reached = 0
    for name, at in golden(shared, version, "decode_verify_commit"):
        later = [n for n, lines in enumerate(generated) if at in lines and n >= reached]
        assert later, f"{name} is not after the step before it"
        reached = later[0]


@pytest.mark.parametrize("version", [QUICK, *HELD_OUT])
def test_other_releases_have_complete_paths_without_guesses(version: str, paths) -> None:
    found = paths(version)
    for name in (
        "decode-mtp-hybrid",
        "prefill-hybrid",
        "cuda-graph-verify",
        "state-memory",
        "radix-cache-mamba",
    ):
        path = found[name]
        assert [gap for gap in path.gaps if not gap["excused"]] == [], name
        assert [step.function for step in path.steps if step.certainty == "guessed"] == [], name


@pytest.mark.parametrize("version", GOLDEN)
def test_every_citation_names_what_it_cites(version: str, paths, release_tree) -> None:
    for path in paths(version).values():
        check_citations(release_tree(version), path)


def check_citations(tree: SourceTree, path: CodePath) -> None:
    for step in path.steps:
        name = step.function.rpartition(".")[2]
        assert f"def {name}(" in line_at(tree, step.at), (path.name, step.id)
        if step.call_at is None or step.kind in ("module call", "callback", "constructor"):
            continue
        assert called_on(tree, step, name), (path.name, step.id, step.call_at)


KINDS = {
    "0.5.9": {"FalconH1ForCausalLM", "NemotronHForCausalLM", "Qwen3NextForCausalLM"},
    "0.5.17": {"FalconH1ForCausalLM", "KimiK3ForConditionalGeneration", "Qwen3_5MoeForCausalLM"},
    "0.5.23": {
        *("NemotronHForCausalLM", "FalconH1ForCausalLM", "GraniteMoeHybridForCausalLM"),
        *("KimiLinearForCausalLM", "KimiK3ForConditionalGeneration", "Glm5NextForConditionalGeneration"),
        *("Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM"),
        "Qwen4ExpForConditionalGeneration",
    },
}
"""Models of each kind of recurrent state for which the decode path is whole: Mamba2, KDA, GDN."""


@pytest.mark.parametrize("version", GOLDEN)
def test_the_decode_path_is_followed_for_other_hybrid_models(version: str, release_tree) -> None:
    store, tree = FactStore(cache_folder("facts")), release_tree(version)
    snapshot = get_snapshot(version)
    models = {model.architecture: model for model in snapshot.models}
    for name in sorted(KINDS[version]):
        path = code_path_variant(tree, store, "decode-mtp-hybrid", model=hybrid_of(snapshot, models[name]))
        assert path is not None and path.context["architecture"] == name
        assert [gap for gap in path.gaps if not gap["excused"]] == [], name
        assert [step.function for step in path.steps if step.certainty == "guessed"] == [], name
        backend = path.context["bindings"]["linear-backend"]["class"]
        assert backend == models[name].hybrid["backend"], name
        # the state is written by this model's own layers, not by those of the default one
        linear = next(step for step in path.steps if "linear" in step.points)
        layer = next(step for step in path.steps if "layer" in step.points)
        assert linear.function.startswith(backend) or "/mamba/" in linear.at.path, name
        assert "/models/" in layer.at.path
        # full attention goes to the same wrapper, but never from there to the recurrent state
        chain = {step.id: step for step in path.steps}
        above, parent = [], linear.parent
        while parent is not None:
            above.append(chain[parent].function)
            parent = chain[parent].parent
        assert "RadixAttention.forward" not in above, name
        conv = next(step for step in path.steps if "conv" in step.points)
        assert "conv" in conv.function and "can_run" not in conv.function, name
        check_citations(tree, path)


def test_an_algorithm_that_never_commits_lacks_the_way_point_for_any_model(release_tree) -> None:
    store, tree = FactStore(cache_folder("facts")), release_tree(QUICK)
    snapshot = get_snapshot(QUICK)
    models = {model.architecture: model for model in snapshot.models}
    model = hybrid_of(snapshot, models["FalconH1ForCausalLM"])
    path = code_path_variant(tree, store, "decode-mtp-hybrid", "NGRAM", model)
    assert path is not None and path.name == "decode-ngram-hybrid"
    assert "commit" in [gap["point"] for gap in path.gaps if not gap["excused"]]


def line_at(tree: SourceTree, at: Location, line: int | None = None) -> str:
    return tree.text(at.path).splitlines()[(line or at.line) - 1]


def called_on(tree: SourceTree, step: Step, name: str) -> bool:
    """The call line holds the callee's name or an alias that the caller's file imports for it, or the line
    that stores what is called has the name."""
    assert step.call_at is not None
    text = line_at(tree, step.call_at)
    if name in text or any(name in line_at(tree, at) for at in step.witnesses):
        return True
    aliases = [
        row.split(" as ")[1] for row in tree.text(step.call_at.path).splitlines() if f"{name} as " in row
    ]
    return any(alias.strip(" ,()\\") in text for alias in aliases)


def test_findings_come_from_comparing_siblings(paths) -> None:
    found = paths(QUICK)["decode-mtp-hybrid"].findings
    told = {(f["kind"], f.get("worker") or str(f["what"]).split()[0]): f["at"] for f in found}
    root = "python/sglang/srt/speculative"
    assert f"{root}/eagle_worker_v2.py:700" in told["missing-waypoint", "EAGLEWorkerV2"]
    assert f"{root}/ngram_worker.py:25" in told["missing-waypoint", "NGRAMWorker"]
    assert (
        f"{root}/multi_layer_eagle_worker.py:574" in told["wrong-arguments", "MultiLayerEagleWorker.verify"]
    )
    assert any(
        "not for kimi_linear_config" in str(f["what"]) for f in found if f["kind"] == "predicate-omitted"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("version", "line"), [("0.5.17", 1016), ("0.5.23", 1239)])
def test_a_backend_without_the_hook_is_skipped_silently(version: str, line: int, paths) -> None:
    found = paths(version)["decode-mtp-hybrid"].findings
    places = [at for f in found if f["kind"] == "skipped-silently" for at in f["at"]]
    assert f"python/sglang/srt/speculative/spec_utils.py:{line}" in places


@pytest.mark.slow
def test_the_two_notions_of_hybrid_differ_where_read_by_hand(paths) -> None:
    older = [
        str(f["what"]) for f in paths("0.5.17")["decode-mtp-hybrid"].findings if f["kind"] == "two-notions"
    ]
    assert any("Qwen3_5ForCausalLM" in told and "_MAMBA_RADIX_CACHE_ARCHS" in told for told in older)
    newer = [
        str(f["what"]) for f in paths("0.5.23")["decode-mtp-hybrid"].findings if f["kind"] == "two-notions"
    ]
    assert any("InternS2Mobius" in told and "_MAMBA_EXTRA_BUFFER_ARCHS" in told for told in newer)
