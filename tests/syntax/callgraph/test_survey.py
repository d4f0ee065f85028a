"""The survey of call sites: alone, and shared with a process of an unknown pace."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import pytest

from indexer.syntax.callgraph.load import load_symbols
from indexer.syntax.callgraph.survey import Survey, help_survey, survey
from indexer.syntax.factstore import FactStore
from tests.trees import MemoryTree

FILES = {
    f"python/sglang/srt/m{number}.py": f"""
import torch
from sglang.srt.m{(number + 1) % 7} import g
class A:
    def run(self):
        return self.step(g())
    def step(self, x):
        torch.empty(1)
        return x.unheard()
def g():
    return A().run()
"""
    for number in range(7)
}


class Other:
    """The other process: does its part when it is waited for, before, or never."""

    def __init__(self, work=lambda: None) -> None:
        self.wait = work


@pytest.fixture
def alone() -> Survey:
    return survey(MemoryTree(FILES))


def test_every_call_site_has_a_kind(alone: Survey) -> None:
    assert alone.counts == {
        "external": 7,
        "import or name": 21,
        "self or class": 7,
        "unknown receiver": 7,
    }


def helped(tree: MemoryTree, store: FactStore) -> None:
    help_survey(tree, store, cache(partial(load_symbols, tree, store)))


def test_nobody_helps(alone: Survey, tmp_path: Path) -> None:
    assert survey(MemoryTree(FILES), FactStore(tmp_path), other=Other()) == alone


def test_the_other_did_everything(alone: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, store = MemoryTree(FILES), FactStore(tmp_path)
    helped(tree, store)
    monkeypatch.setattr(
        "indexer.syntax.callgraph.surveyor.Surveyor.share", lambda *_: pytest.fail("done already")
    )
    assert survey(tree, store, other=Other()) == alone


def test_the_other_took_shares_and_died(
    alone: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, store = MemoryTree(FILES), FactStore(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("indexer.syntax.callgraph.surveyor.Surveyor.share", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            helped(tree, store)
    assert survey(tree, store, other=Other()) == alone


def test_nothing_can_be_kept(alone: Survey, tmp_path: Path) -> None:
    store = FactStore(tmp_path)
    store.close()
    assert survey(MemoryTree(FILES), store, other=Other()) == alone
