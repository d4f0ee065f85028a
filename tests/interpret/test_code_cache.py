"""Compiled code is kept, and what is kept says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.interpret import code_cache
from indexer.interpret.code_cache import TreeCode, code_of
from indexer.interpret.launch import Launch
from indexer.interpret.modules import Program
from indexer.interpret.world import World
from tests.trees import MemoryTree

SOURCE = """
import dataclasses
@dataclasses.dataclass
class Point:
    x: int
    y: int = 2
def result():
    return repr(Point(1))
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryTree:
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path))
    tree = MemoryTree({"python/sglang/__init__.py": "", "python/sglang/main.py": SOURCE})
    tree.origin, tree.sha256 = "release", "f" * 64
    return tree


def answer(tree: MemoryTree) -> str:
    program = Program([(tree, "python/")], World(Launch()), lambda dotted: False)
    return program.import_module("sglang.main").result()


def test_a_release_is_read_back_without_its_sources(
    tree: MemoryTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(tree)
    code_of(tree).save()
    code_cache._codes.clear()
    monkeypatch.setattr(MemoryTree, "read", lambda *args: pytest.fail("read"))
    monkeypatch.setattr(
        code_cache, "compile", lambda *args, **options: pytest.fail("compiled"), raising=False
    )
    assert answer(tree) == first == "Point(x=1, y=2)"


def test_a_damaged_file_only_costs_time(tree: MemoryTree, tmp_path: Path) -> None:
    answer(tree)
    code_of(tree).save()
    for file in (tmp_path / "code").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    code_cache._codes.clear()
    assert answer(tree) == "Point(x=1, y=2)"


def test_a_checkout_is_not_kept_as_a_whole(tree: MemoryTree) -> None:
    tree.origin = "git"
    assert TreeCode(tree)._bundle is None
