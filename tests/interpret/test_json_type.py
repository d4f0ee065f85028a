from __future__ import annotations

from indexer.extract.snapshot import extract_snapshot
from tests.trees import MemoryTree

SOURCE = """
import argparse
import dataclasses
import json


@dataclasses.dataclass
class ServerArgs:
    labels: str = None

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--labels", type=json.loads, default=ServerArgs.labels)
"""


def test_a_replaced_library_function_keeps_its_name_as_a_type() -> None:
    tree = MemoryTree({"python/sglang/__init__.py": "", "python/sglang/srt/server_args.py": SOURCE})
    (flag,) = extract_snapshot(tree).flags
    assert flag.type == "loads"
