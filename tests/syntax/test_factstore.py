"""The cache of per-file facts: a damaged file is told and built again."""

from __future__ import annotations

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
