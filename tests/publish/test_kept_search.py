"""Pagefind's index in the cache: made once for the same records, made again when it is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexer.errors import CannotError
from indexer.publish import kept_search, pagefind
from indexer.publish.kept_search import keep_index, kept_index, unpacked
from indexer.publish.pagefind import write_search
from indexer.search.documents import documents_of
from indexer.source.cache import CACHE_VARIABLE
from tests.small_site import small_snapshot


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def made(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def write(folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    write_search(documents_of(small_snapshot()), folder)
    return made(folder / "pagefind")


def test_the_same_records_are_indexed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(tmp_path / "first")
    assert "pagefind.js" in first

    def never(records: list[str], folder: Path) -> None:
        raise AssertionError("indexed again")

    monkeypatch.setattr(pagefind, "_write_index", never)
    assert write(tmp_path / "second") == first


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    whole = write(tmp_path / "first")
    (entry,) = (tmp_path / "cache" / "site-search").glob("*.zip")
    entry.write_bytes(entry.read_bytes()[:2000])
    assert write(tmp_path / "second").keys() >= {"pagefind.js", "pagefind-entry.json"}
    assert unpacked(entry, tmp_path / "third")
    assert len(made(tmp_path / "third")) == len(whole)


def test_other_records_have_another_entry() -> None:
    names = {kept_index(records).name for records in (["a", "b"], ["ab"], ["a"], [])}
    assert len(names) == 4


def test_other_options_have_another_entry() -> None:
    assert kept_index(["a"], ["--force-language", "en"]) != kept_index(["a"])


def test_an_entry_that_another_build_removes_is_still_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = kept_index(["a"])
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "file").write_text("made")
    keep_index(entry, tmp_path / "made")
    monkeypatch.setattr(kept_search.os, "utime", lambda path: entry.unlink() or path.stat())
    assert unpacked(entry, tmp_path / "used")
    assert made(tmp_path / "used") == {"file": b"made"}
    assert not entry.exists()


def test_only_the_entries_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_search, "_MOST", 2)
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "file").write_text("made")
    entries = [kept_index([record]) for record in "abc"]
    for age, entry in zip((3000, 2000), entries, strict=False):
        keep_index(entry, tmp_path / "made")
        os.utime(entry, (age, age))
    assert unpacked(entries[0], tmp_path / "used")
    keep_index(entries[2], tmp_path / "made")
    assert [entry.is_file() for entry in entries] == [True, False, True]


def test_pagefind_that_fails_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'no room left' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(pagefind, "get_executable", lambda: broken)
    with pytest.raises(CannotError, match=r"could not index the site \(no room left\)"):
        write(tmp_path / "first")
    monkeypatch.setattr(pagefind, "get_executable", lambda: None)
    with pytest.raises(CannotError, match="not installed"):
        write(tmp_path / "second")
