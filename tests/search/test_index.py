"""The Whoosh index over small documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.search.documents import documents_of
from indexer.search.index import SearchIndex
from tests.small_site import small_snapshot


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return SearchIndex.build(documents_of(small_snapshot()), tmp_path_factory.mktemp("search") / "index")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("draft steps", "flag:speculative-draft-steps"),
        ("--speculative-draft-steps", "flag:speculative-draft-steps"),
        ("speculative_draft_steps", "flag:speculative-draft-steps"),
        ("SpeculativeDraftSteps", "flag:speculative-draft-steps"),
        ("speculativedraftsteps", "flag:speculative-draft-steps"),
        ("speculative-draft-ste", "flag:speculative-draft-steps"),
        ("specualtive draft steps", "flag:speculative-draft-steps"),
        ("triton", "flag:backend"),
        ("QUICK", "algorithm:QUICK"),
        ("tiny debug", "env:TINY_DEBUG"),
        ("steps are needed", "rule:steps-needed"),
        ("TinyForCausal", "model:TinyForCausalLM"),
    ],
)
def test_any_spelling_finds_it_first(index: SearchIndex, query: str, first: str) -> None:
    assert index.search(query)[0].document.id == first


def test_hits_say_where_they_are_cited(index: SearchIndex) -> None:
    record = index.search("draft steps", limit=1)[0].record()
    assert record["cited"] == {"path": "python/sglang/srt/server_args.py", "line": 2}
    assert record["url"] == "/1.0/flags/speculative-draft-steps.html"
    assert record["version"] == "1.0"


def test_kind_and_limit_narrow(index: SearchIndex) -> None:
    assert {hit.document.kind for hit in index.search("steps", kind="rule")} == {"rule"}
    assert len(index.search("steps", limit=1)) == 1


@pytest.mark.parametrize("query", ["", "---", "zzzzqqqq", "*", "a AND (", "\x00"])
def test_nothing_to_find_is_no_error(index: SearchIndex, query: str) -> None:
    assert isinstance(index.search(query), list)


def test_a_rebuild_replaces_the_folder_whole(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    for _ in range(2):
        SearchIndex.build(documents_of(small_snapshot()), folder)
    assert SearchIndex(folder).search("backend")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
