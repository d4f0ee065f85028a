"""The cache of per-file facts: a damaged file is told and built again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from indexer.syntax.factstore import FactStore


def test_a_damaged_file_is_told_and_built_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "facts.sqlite").write_bytes(b"not a database at all" * 400)
    store = FactStore(tmp_path)
    store.save({b"key": b"value"})
    assert store.load([b"key"]) == {b"key": b"value"}
    assert "damaged and is built again" in capsys.readouterr().err
    assert len(store.problems) == 1


def test_a_folder_that_cannot_be_made_keeps_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    store = FactStore(tmp_path / "file" / "facts")
    store.save({b"key": b"value"})
    assert store.load([b"key"]) == {}
    assert "can't be" in capsys.readouterr().err


def test_a_key_is_claimed_by_one_of_several_and_holds_nothing_yet(tmp_path: Path) -> None:
    first, second = FactStore(tmp_path), FactStore(tmp_path)
    assert first.claim(b"share")
    assert not second.claim(b"share")
    assert second.load([b"share"]) == {b"share": b""}
    first.save({b"share": b"done"})
    assert second.load([b"share"]) == {b"share": b"done"}


def test_where_nothing_is_kept_nothing_is_claimed(tmp_path: Path) -> None:
    store = FactStore(tmp_path)
    store.close()
    assert not store.claim(b"share")


def test_the_table_of_an_earlier_layout_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(tmp_path / "facts.sqlite") as old:
        old.execute("CREATE TABLE facts (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        old.execute("INSERT INTO facts VALUES (x'00', zeroblob(3000000))")
    store = FactStore(tmp_path)
    store.save({b"key": b"value"})
    store.close()
    monkeypatch.setattr("indexer.syntax.factstore._MOST_BYTES", 1_500_000)
    assert FactStore(tmp_path).load([b"key"]) == {b"key": b"value"}
    with sqlite3.connect(tmp_path / "facts.sqlite") as now:
        tables = {name for (name,) in now.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"file_facts", "blobs"}


def test_of_too_many_facts_the_older_half_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [bytes([number]) for number in range(100)]
    store = FactStore(tmp_path)
    for key in keys:
        store.save({key: key * 20_000})
    store.close()
    assert len(FactStore(tmp_path).load(keys)) == 100
    monkeypatch.setattr("indexer.syntax.factstore._MOST_BYTES", 1_500_000)
    assert sorted(FactStore(tmp_path).load(keys)) == keys[50:]
    assert sorted(FactStore(tmp_path).load(keys)) == keys[50:]  # the space that is free doesn't count
