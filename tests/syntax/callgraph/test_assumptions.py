"""Guards under assumptions: three values, enums read from their predicates."""

from __future__ import annotations

import textwrap

import pytest

from indexer.syntax.callgraph.assumptions import Assumptions
from indexer.syntax.callgraph.enums import EnumTable
from indexer.syntax.callgraph.expressions import parse
from indexer.syntax.callgraph.load import load_symbols
from tests.trees import MemoryTree

MODE = """
class Mode(IntEnum):
    DECODE = auto()
    VERIFY = auto()
    EXTEND = auto()
    def is_decode(self): return self == Mode.DECODE
    def is_extend(self, also=False):
        return self in (Mode.EXTEND, Mode.VERIFY) or (also and self == Mode.DECODE)
    def is_plain(self): return self.is_extend() and not self == Mode.VERIFY
"""

REGISTRY = """
class Algorithm:
    def is_eagle(self): return self._has_flag("EAGLE")
register_algorithm("EAGLE", worker_cls=f, flags=("EAGLE",))
register_algorithm("NGRAM", worker_cls=g, flags=("NGRAM",))
"""


def table(source: str, name: str) -> EnumTable:
    symbols = load_symbols(MemoryTree({"python/sglang/srt/m.py": textwrap.dedent(source)}))
    return EnumTable(symbols, symbols.classes_by_name[name][0])


def test_enum_predicates_per_member() -> None:
    mode = table(MODE, "Mode")
    assert mode.members == ("DECODE", "VERIFY", "EXTEND")
    assert mode.predicates["is_extend"] == {"DECODE": False, "VERIFY": True, "EXTEND": True}
    assert mode.predicates["is_plain"] == {"DECODE": False, "VERIFY": False, "EXTEND": True}


def test_registry_flags_stand_for_predicates() -> None:
    assert table(REGISTRY, "Algorithm").predicates["is_eagle"] == {"EAGLE": True, "NGRAM": False}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mode.is_extend()", True),
        ("not mode.is_decode()", True),
        ("batch.mode == Mode.DECODE", False),
        ("mode.is_extend(also=flag)", None),
        ("_is_npu or x", None),
        ("_is_npu and x", False),
        ("hybrid_config(m) is not None", True),
        ("other is None", None),
        ("limit == 3", True),
    ],
)
def test_truth(text: str, expected: bool | None) -> None:
    names = {"_is_npu": False, "hybrid_config": True}
    assumed = Assumptions(names, {"Mode": table(MODE, "Mode")}, {"Mode": "VERIFY"}, {"limit": 3})
    assert assumed.truth(parse(text)) is expected
