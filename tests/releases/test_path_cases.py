"""Real questions about code paths: their words lead to a page that cites the place of the right answer.

Asked of 0.5.23, where the places are as the answers give them. Two cases (e12, e13) name no place that was
verified: asked is that their words lead to the page of the mechanism they name.
"""

from __future__ import annotations

import json
import re

import pytest

from indexer.publish.excerpts import SourceText
from indexer.publish.pages import all_pages
from indexer.publish.render import Renderer
from indexer.publish.site import VersionSite, page_stems
from indexer.search.documents import documents_of
from indexer.search.index import SearchIndex
from indexer.snapshots import get_snapshot

pytestmark = [pytest.mark.oracle, pytest.mark.release, pytest.mark.slow]

VERSION = "0.5.23"
# Case: places (file, first line, last line) of which each must stand on a page that is led to.
PLACES = {
    "e01": [("managers/schedule_batch.py", 2322, 2340)],
    "e03": [
        ("mem_cache/memory_pool.py", 883, 886),
        ("mem_cache/kv_cache_configurator.py", 3308, 3322),
        ("mem_cache/allocation_sizing.py", 17, 18),
    ],
    "e04": [("managers/schedule_batch.py", 2332, 2340)],
    "e06": [
        ("speculative/spec_utils.py", 1005, 1005),
        ("hardware_backend/npu/attention/ascend_hybrid_linear_attn_backend.py", 229, 229),
    ],
    "e10": [("models/mimo_v2_nextn.py", 241, 241)],
    "e12": [("arg_groups/mamba_hook.py", 1, 200)],
    "e13": [("mem_cache/unified_radix_cache.py", 1, 5000)],
    "e18": [("speculative/multi_layer_eagle_worker_v2.py", 1, 5000)],
    "e19": [("layers/attention/hybrid_linear_attn_backend.py", 1514, 1514)],
    "e20": [
        ("layers/attention/hybrid_linear_attn_backend.py", 1514, 1514),
        ("speculative/spec_utils.py", 1005, 1005),
    ],
    "e21": [("configs/model_config.py", 956, 956)],
}
_CITED = re.compile(r'title="python/sglang/srt/([^":]+):(\d+)"')


@pytest.fixture(scope="module")
def site(release_tree) -> VersionSite:
    snapshot = get_snapshot(VERSION)
    source = SourceText(release_tree(VERSION))
    return VersionSite(snapshot, source, {VERSION: page_stems(snapshot)}, [VERSION], VERSION)


@pytest.fixture(scope="module")
def index(site, tmp_path_factory) -> SearchIndex:
    return SearchIndex.build(documents_of(site.snapshot), tmp_path_factory.mktemp("cases") / "index")


@pytest.fixture(scope="module")
def cited(site, tmp_path_factory):
    """Return the function that gives the (path, line) pairs cited on a page."""
    pages = {page.stem: page for page in all_pages(site)}
    renderer, folder, known = Renderer(site), tmp_path_factory.mktemp("pages"), {}

    def of(stem: str) -> set[tuple[str, int]]:
        if stem not in known:
            renderer.write(pages[stem], {folder: ""})
            text = (folder / f"{stem}.html").read_text(encoding="utf-8")
            known[stem] = {(path, int(line)) for path, line in _CITED.findall(text)}
        return known[stem]

    return of


def test_every_case_whose_surface_is_a_code_path_is_here(shared) -> None:
    lines = (shared / "cases" / "cases.jsonl").read_text().splitlines()
    cases = [json.loads(line) for line in lines]
    assert {one["id"] for one in cases if one["surface"] == "code path" and one["kind"] == "e"} == set(PLACES)


@pytest.mark.parametrize("case", PLACES)
def test_the_words_of_a_case_lead_to_its_place(case, shared, index, cited) -> None:
    lines = (shared / "cases" / "cases.jsonl").read_text().splitlines()
    asked = next(one for one in map(json.loads, lines) if one["id"] == case)
    hits = index.search(asked["question"], limit=8)
    hits += index.search(f"{asked['question']} {asked['command']}", limit=8)
    hits += index.search(f"{asked['question']} {asked['command']}", kind="path", limit=3)
    stems = {re.sub(r"^/[^/]+/|\.html.*$", "", hit.document.url) for hit in hits}
    for path, first, last in PLACES[case]:
        found = [
            stem for stem in stems if any(p == path and first <= line <= last for p, line in cited(stem))
        ]
        assert found, f"{path}:{first}: on none of {sorted(stems)}"
