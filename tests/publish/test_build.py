"""The whole site of small versions: put in place when it is whole, and not at all with a dead citation."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import msgspec
import pytest

from indexer.errors import CannotError
from indexer.knowledge.schema import Snapshot
from indexer.publish import parts
from indexer.publish.build import build_site
from indexer.publish.output import MARKER
from indexer.source.cache import CACHE_VARIABLE
from tests.small_site import at, small_snapshot, small_tree

pytestmark = pytest.mark.skipif(
    multiprocessing.get_start_method() != "fork", reason="workers would not see the small tree"
)


@pytest.fixture
def snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Snapshot]:
    shown = {version: small_snapshot() for version in ("1.0", "0.9")}
    for version, snapshot in shown.items():
        snapshot.source.version = version
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("indexer.snapshots.get_snapshot", lambda version: shown[version])
    monkeypatch.setattr("indexer.source.open_source", lambda version: small_tree())
    monkeypatch.setattr(parts, "_evidence", lambda snapshot, versions: None)
    return shown


def test_the_parts_of_all_versions_make_one_site(snapshots: dict[str, Snapshot], tmp_path: Path) -> None:
    target = tmp_path / "out" / "site"
    built = {one.version: one for one in build_site([*snapshots], "1.0", target)}
    assert built.keys() == snapshots.keys()
    assert built["1.0"].pages == built["0.9"].pages == len(list((target / "0.9").rglob("*.html")))
    assert built["1.0"].figures.citations > 15
    assert msgspec.json.decode((target / "versions.json").read_bytes())["versions"] == ["1.0", "0.9"]
    for folder in (target, target / "1.0", target / "0.9"):
        assert (folder / "pagefind" / "pagefind.js").is_file()
        assert (folder / "search-words.json").is_file()
    assert (target / "index.html").is_file()
    assert (target / "static" / "site.css").is_file()
    hidden = {path.name for path in target.rglob(".*")}
    assert hidden == {MARKER}


def test_a_dead_citation_leaves_nothing_behind(snapshots: dict[str, Snapshot], tmp_path: Path) -> None:
    snapshots["0.9"].flags[0].declared_at = at("BACKENDS")
    target = tmp_path / "out" / "site"
    with pytest.raises(CannotError, match=r"SGLang 0\.9: 1 dead citation"):
        list(build_site([*snapshots], "1.0", target))
    assert [path.name for path in target.parent.iterdir()] == [".site.lock"]
