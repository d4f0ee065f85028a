from __future__ import annotations

import sys
from pathlib import Path

import pytest

from indexer.errors import CannotError, UsageError
from indexer.source import ARGUMENTS_FILE, open_source
from indexer.source.tree import MAX_FILE_BYTES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    arguments = tmp_path / ARGUMENTS_FILE
    arguments.parent.mkdir(parents=True)
    arguments.write_text("class ServerArgs: ...\n")
    (tmp_path / "python/pyproject.toml").write_text('[project]\nname = "sglang"\nversion = "9.7"\n')
    return tmp_path


@pytest.mark.parametrize("below", [".", "python", "python/sglang"])
def test_any_of_three_folders_will_do(root: Path, below: str) -> None:
    tree = open_source(folder=root / below)
    assert (tree.version, tree.origin) == ("9.7", "folder")
    assert tree.paths() == (ARGUMENTS_FILE,)
    assert tree.permalink(ARGUMENTS_FILE, 1) is None


def test_installed_package_is_found_not_imported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "python/sglang/__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(root / "python")
    monkeypatch.delitem(sys.modules, "sglang", raising=False)
    tree = open_source(installed=True)
    assert tree.origin == "installed"
    assert ARGUMENTS_FILE in tree
    assert "sglang" not in sys.modules


def test_latin_1_reads_as_its_coding_line_says_or_fails_clearly(root: Path) -> None:
    told, silent = root / "python/sglang/a.py", root / "python/sglang/b.py"
    told.write_bytes("# -*- coding: latin-1 -*-\nX = 'é'\n".encode("latin-1"))
    silent.write_bytes("X = 'é'\n".encode("latin-1"))
    tree = open_source(folder=root)
    assert "é" in tree.text("python/sglang/a.py")
    with pytest.raises(CannotError, match=r"python/sglang/b\.py: not readable as Python source"):
        tree.text("python/sglang/b.py")


def test_large_file_and_link_are_refused(root: Path) -> None:
    with (root / "python/sglang/big.py").open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    (root / "python/sglang/link.py").symlink_to("/etc/hostname")
    tree = open_source(folder=root)
    assert "python/sglang/link.py" not in tree
    with pytest.raises(CannotError, match="has 16,777,217 bytes"):
        tree.read("python/sglang/big.py")
    with pytest.raises(CannotError, match="is a link"):
        tree.read("python/sglang/link.py")
    with pytest.raises(FileNotFoundError):
        tree.read("python/sglang/../../secret")


def test_not_sglang(tmp_path: Path) -> None:
    with pytest.raises(CannotError, match="is not a SGLang tree"):
        open_source(folder=tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        open_source(folder=tmp_path / "nothing")


def test_tree_without_server_arguments(root: Path) -> None:
    (root / ARGUMENTS_FILE).unlink()
    (root / "python/sglang/srt/other.py").write_text("")
    with pytest.raises(
        CannotError, match=r"no server arguments \(python/sglang/srt/server_args.py is missing\)"
    ):
        open_source(folder=root)


def test_sources_exclude_each_other(root: Path) -> None:
    with pytest.raises(UsageError, match="--checkout and --folder exclude each other"):
        open_source(checkout=root, folder=root)
    with pytest.raises(UsageError, match="--rev needs --checkout or --clone"):
        open_source(folder=root, rev="v1")
