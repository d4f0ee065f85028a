"""Trees that are not known by their hash are run in a child with limits: what they do stays there."""

from __future__ import annotations

import pytest

from indexer.explain import paths
from indexer.explain.explain import Explainer
from indexer.explain.explanation import REFUSED, STARTS, UNKNOWN
from indexer.explain.launches import Question
from indexer.interpret import children
from indexer.interpret.children import Limits
from tests.trees import MemoryTree

pytestmark = pytest.mark.skipif(not children.AVAILABLE, reason="this platform can't fork")

SOURCE = """
import argparse
import dataclasses
import re

@dataclasses.dataclass
class ServerArgs:
    steps: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--steps", type=int, default=ServerArgs.steps)

def prepare_server_args(argv):
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    found = parser.parse_args(argv)
    record = ServerArgs(found.steps)
    STATEMENT
    return record
"""


def answer(statement: str, *argv: str):
    source = SOURCE.replace("STATEMENT", statement)
    tree = MemoryTree({"python/sglang/__init__.py": "", "python/sglang/srt/server_args.py": source})
    return Explainer(tree).explain(Question(argv=list(argv), gpu="H200"))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "Limits", lambda: Limits(cpu_seconds=2, memory_bytes=700 << 20))


def test_an_answer_of_a_child_is_the_same_as_one_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer("record.steps += 1", "--steps", "2")
    monkeypatch.setattr(paths.children, "AVAILABLE", False)
    assert found == answer("record.steps += 1", "--steps", "2")
    assert found.outcome == STARTS
    assert (found.fields["steps"].asked, found.fields["steps"].resolved) == (2, 3)


def test_a_refusal_of_a_child_has_its_line() -> None:
    found = answer("raise ValueError(f'not {found.steps}')")
    assert found.outcome == REFUSED
    assert found.refusal is not None and found.refusal.at is not None
    assert (found.refusal.message, found.refusal.at.line) == ("not 1", 19)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("re.match('(a+)+$', 'a' * 64 + 'b')", "seconds of CPU"),
        ("bytes(10 ** 12)", "emory"),
        ("record.steps = [[0] * 1000 for _ in range(10 ** 7)]", "emory"),
        ("x = [10]; x[0] **= 10 ** 9", "seconds of CPU"),
    ],
)
def test_what_never_ends_is_not_known(statement: str, why: str) -> None:
    found = answer(statement)
    assert found.outcome == UNKNOWN
    assert any(why in fact.reason for fact in found.unknowns), found.unknowns
