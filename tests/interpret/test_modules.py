from __future__ import annotations

import sys

from indexer.extract.snapshot import extract_snapshot
from tests.interpret.running import run
from tests.trees import ARGUMENTS, MemoryTree


def test_trees_read_one_after_another_never_share_modules() -> None:
    """A closed tree's identity is given to the next one: what was compiled must not be."""
    for default in range(12):
        source = ARGUMENTS.format(default=default)
        tree = MemoryTree({"python/sglang/__init__.py": "", "python/sglang/srt/server_args.py": source})
        (flag,) = extract_snapshot(tree).flags
        assert flag.default == default


def test_whether_this_program_imported_a_submodule_decides_nothing() -> None:
    source = "import xml\ndef result():\n    return hasattr(xml, 'sax'), hasattr(xml, 'no_such')\n"
    assert "xml.sax.expatreader" not in sys.modules
    assert run(source) == (True, False)


def test_globals_are_the_names_of_the_module_and_nothing_else() -> None:
    source = """
FIRST = 1
def second(): return 2
def result():
    names = globals()
    names["THIRD"] = 3
    return [name for name in names], names["FIRST"], names.get("no"), "second" in names, THIRD
THIRD = None
"""
    assert run(source) == (["FIRST", "second", "result", "THIRD"], 1, None, True, 3)
