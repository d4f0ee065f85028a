"""Thousands of questions in one process: what one path made is gone when the next but one runs."""

from __future__ import annotations

import gc

from indexer.explain.resolve import resolve_path
from indexer.interpret.launch import Launch
from indexer.interpret.modules import Program
from tests.explain.test_untrusted import SOURCE
from tests.trees import MemoryTree


def test_programs_do_not_pile_up() -> None:
    source = "import msgspec\n" + SOURCE.replace("STATEMENT", "record.note = Note(1)")
    source = source.replace("def prepare", "class Note(msgspec.Struct):\n    x: int\n\ndef prepare")
    tree = MemoryTree({"python/sglang/__init__.py": "", "python/sglang/srt/server_args.py": source})
    for _ in range(4):
        assert resolve_path(tree, Launch(packages={"msgspec": ""}), None).ok
    gc.collect()
    assert sum(type(one) is Program and one._trees[0][0] is tree for one in gc.get_objects()) <= 1
