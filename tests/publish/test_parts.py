"""A version in parts: together they are all its pages, and a dead citation is an error of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.errors import CannotError
from indexer.knowledge.schema import Snapshot
from indexer.publish import parts
from indexer.publish.excerpts import SourceText
from indexer.publish.pagefind import RECORDS
from indexer.publish.pages import all_pages
from indexer.publish.parts import CITATIONS, PARTS, SEARCH, TERMINAL, Target, build_part
from indexer.publish.site import VersionSite
from indexer.source.cache import CACHE_VARIABLE
from tests.small_site import at, small_snapshot, small_tree

VERSION = "1.0"


@pytest.fixture
def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Snapshot]:
    shown = small_snapshot()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("indexer.snapshots.get_snapshot", lambda version: shown)
    monkeypatch.setattr("indexer.source.open_source", lambda version: small_tree())
    monkeypatch.setattr(parts, "_history", lambda: None)
    parts._renderer.cache_clear()
    yield shown
    parts._renderer.cache_clear()


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "site").mkdir()
    return Target(VERSION, (VERSION,), VERSION, ((VERSION, frozenset()),), str(tmp_path / "site"))


def test_the_parts_are_the_whole_version(snapshot: Snapshot, target: Target) -> None:
    assert {SEARCH, CITATIONS, TERMINAL} < set(PARTS)
    counted = sum(build_part(target, part) for part in PARTS)
    site = VersionSite(
        snapshot, SourceText(small_tree()), {}, [VERSION], VERSION, evidence=parts._evidence(snapshot, [])
    )
    stems = {page.stem for page in all_pages(site)}
    assert counted == len(stems)
    root = Path(target.folder)
    for folder in (root, root / VERSION):
        written = {
            str(file.relative_to(folder).with_suffix(""))
            for file in folder.rglob("*.html")
            if VERSION not in file.relative_to(folder).parts and RECORDS not in file.parts
        }
        assert written == stems
        assert all((folder / f"{stem}.json").is_file() for stem in stems)
        assert (folder / "llms.txt").is_file()
        assert (folder / "llms-full.txt").is_file()
    assert (root / VERSION / "pagefind" / "pagefind.js").is_file()
    assert list((root.parent / "cache" / "search").iterdir())


def test_a_dead_citation_stops_the_version(snapshot: Snapshot, target: Target) -> None:
    snapshot.flags[0].declared_at = at("BACKENDS")
    with pytest.raises(CannotError, match=r"1 dead citation\(s\); nothing was published\n  .*none of"):
        build_part(target, CITATIONS)
