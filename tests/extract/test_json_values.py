"""Values that every server parses as JSON, told by the shape of the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.extract.json_values import json_values
from indexer.source.release import open_release
from tests.trees import MemoryTree

COMMON = '''
def strict_list(value):
    """Take a list."""
    try:
        return json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError("no")

def lenient(value):
    try:
        return json.loads(value)
    except ValueError:
        return value

def later(value):
    value = value.strip()
    return json.loads(value)

def other(value):
    return json.loads(open(value))
'''
CONFIG = """
class ModelConfig:
    def __init__(self, overrides, extra, maybe):
        self.overrides = json.loads(overrides)
        if isinstance(extra, str):
            self.extra = orjson.loads(extra)
        if overrides:
            self.maybe = json.loads(maybe)

    def later(self, late):
        self.late = json.loads(late)
"""
USER = """
ModelConfig(overrides=server_args.json_overrides, extra=self.server_args.extra_json, maybe=cfg.maybe_json)
ModelConfig(overrides=self.overrides, late=cfg.late)
"""


def test_only_what_is_parsed_first_and_always_counts() -> None:
    root = "python/sglang/srt"
    tree = MemoryTree(
        {
            f"{root}/utils/common.py": COMMON,
            f"{root}/configs/model_config.py": CONFIG,
            f"{root}/runner.py": USER,
        }
    )
    assert json_values(tree) == {
        "types": ["strict_list"],
        "options": {
            "extra_json": f"{root}/configs/model_config.py:6",
            "json_overrides": f"{root}/configs/model_config.py:4",
        },
    }


@pytest.mark.release
def test_shipped_table_is_what_the_source_says() -> None:
    shipped = json.loads((Path(__file__).parents[2] / "indexer" / "data" / "json_values.json").read_text())
    assert json_values(open_release("0.5.23")) == shipped["0.5.23"]
