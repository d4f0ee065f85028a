"""Snapshots as files: same bytes, checked version, nothing lost on failure."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from indexer.errors import CannotError, UsageError
from indexer.knowledge.schema import SCHEMA_VERSION
from indexer.knowledge.store import (
    decode_snapshot,
    encode_snapshot,
    load_snapshot,
    save_snapshot,
    write_atomically,
)
from indexer.knowledge.values import as_unknown
from tests.small_site import small_snapshot


def test_a_snapshot_survives_its_file_byte_for_byte(tmp_path: Path) -> None:
    save_snapshot(small_snapshot(), tmp_path / "s.json")
    loaded = load_snapshot(tmp_path / "s.json")
    assert encode_snapshot(loaded) == (tmp_path / "s.json").read_bytes() == encode_snapshot(small_snapshot())


def test_an_unknown_default_is_still_unknown_after_loading(tmp_path: Path) -> None:
    loaded = decode_snapshot(encode_snapshot(small_snapshot()), "test")
    unknown = as_unknown(loaded.flags[2].default)
    assert unknown is not None
    assert unknown.unknown == "depends on the machine"
    assert unknown.at == small_snapshot().flags[2].default.at


def test_another_schema_version_is_told_with_what_to_do() -> None:
    other = msgspec.structs.replace(small_snapshot(), schema=SCHEMA_VERSION + 1)
    with pytest.raises(UsageError, match=r"old\.json: snapshot schema .* make the snapshot again"):
        decode_snapshot(encode_snapshot(other), "old.json")


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"schema": "x"}', b"\xff\xfe"])
def test_what_is_no_snapshot_is_refused(raw: bytes) -> None:
    with pytest.raises(UsageError, match="not a snapshot"):
        decode_snapshot(raw, "file")


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CannotError, match="No such file"):
        load_snapshot(tmp_path / "none.json")


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "s.json"
    target.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(CannotError, match="No space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]
