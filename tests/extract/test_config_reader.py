"""When a release's reader of ``--config`` files is asked, and how it treats keys."""

from __future__ import annotations

from indexer.extract.config_reader import ABSENT, BY_DEST, reader_of
from tests.trees import MemoryTree

READER = "class ConfigArgumentMerger:\n    unsupported_actions = ()\n"
ASKED = """
def prepare(argv):
    parser = make()
    if "--config" in argv:
        argv = ConfigArgumentMerger(parser).merge(argv)
"""


def tree(entry: str) -> MemoryTree:
    files = {"server_args.py": entry, "server_args_config_parser.py": READER}
    return MemoryTree({f"python/sglang/srt/{name}": source for name, source in files.items()})


def test_a_reader_that_is_asked_by_a_word_is_told_with_its_place() -> None:
    assert reader_of(tree(ASKED)) == {"rule": BY_DEST, "asked": "python/sglang/srt/server_args.py:4"}


def test_a_reader_that_is_asked_in_another_way_overlooks_nothing() -> None:
    entry = ASKED.replace('"--config" in argv', 'any(one.startswith("--config") for one in argv)')
    assert reader_of(tree(entry)) == {"rule": BY_DEST, "asked": None}


def test_a_tree_without_a_reader_asks_none() -> None:
    assert reader_of(MemoryTree({"python/sglang/srt/server_args.py": ASKED})) == {
        "rule": ABSENT,
        "asked": None,
    }
