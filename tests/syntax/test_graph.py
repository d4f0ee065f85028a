"""Names are followed as Python would: imports, re-exports, stars, aliases, scopes, classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.module import symbol_at
from tests.trees import MemoryTree

FILES = {
    "python/sglang/__init__.py": "",
    "python/sglang/srt/base.py": (
        "import torch\n"
        "class Root(torch.nn.Module):\n"
        "    limit = 3\n"
        "    def run(self): ...\n"
        "class Left(Root):\n"
        "    def run(self): ...\n"
        "class Right(Root): ...\n"
        "def helper(): ...\n"
        "_hidden = 1\n"
    ),
    "python/sglang/srt/pkg/__init__.py": "from .impl import Thing as Thing2\nfrom ..base import *\n",
    "python/sglang/srt/pkg/impl.py": "class Thing: ...\nAlias = Thing\n",
    "python/sglang/srt/user.py": (
        "from sglang.srt.pkg import Thing2, helper\n"
        "import sglang.srt.base as base\n"
        "class Both(base.Left, base.Right): ...\n"
        "def outer():\n"
        "    from sglang.srt.pkg.impl import Alias\n"
        "    def inner():\n"
        "        return Alias\n"
        "    return inner\n"
        "try:\n"
        "    from fast import kernel\n"
        "except ImportError:\n"
        "    from sglang.srt.base import helper as kernel\n"
    ),
    "python/sglang/srt/loop_a.py": "from sglang.srt.loop_b import name\n",
    "python/sglang/srt/loop_b.py": "from sglang.srt.loop_a import name\n",
    "python/sglang/srt/broken.py": "class Whole:\n    pass\ndef half(:\n    x = (\n",
}


@pytest.fixture
def graph() -> ModuleGraph:
    return ModuleGraph(MemoryTree(FILES))


@pytest.mark.parametrize(
    ("name", "scope", "expected"),
    [
        ("Thing2", "", "sglang.srt.pkg.impl.Thing"),
        ("helper", "", "sglang.srt.base.helper"),  # through a re-exporting star import
        ("base.Left.run", "", "sglang.srt.base.Left.run"),
        ("base.Right.run", "", "sglang.srt.base.Root.run"),  # inherited
        ("base.torch.nn.Module", "", "torch.nn.Module"),
        ("Alias", "outer.inner", "sglang.srt.pkg.impl.Thing"),  # function import, alias assignment
        ("kernel", "", "sglang.srt.base.helper"),  # the one inside the tree wins
    ],
)
def test_name_is_followed_to_its_definition(graph, name, scope, expected):
    module = graph.module("sglang.srt.user")
    assert graph.resolve(module, name, scope).dotted == expected


def test_what_is_not_visible_is_not_resolved(graph):
    user = graph.module("sglang.srt.user")
    assert graph.resolve(user, "Alias") is None, "an import inside a function is not seen outside it"
    assert graph.resolve(graph.module("sglang.srt.pkg"), "_hidden") is None, "a star skips private names"
    assert graph.resolve(graph.module("sglang.srt.loop_a"), "name") is None, "a ring of imports ends"


def test_all_bindings_of_a_name_are_kept_in_order(graph):
    found = graph.resolve_all(graph.module("sglang.srt.user"), "kernel")
    assert [one.dotted for one in found] == ["fast.kernel", "sglang.srt.base.helper"]


def test_classes_know_their_order_and_children(graph):
    both = graph.resolve_dotted("sglang.srt.user.Both")
    assert [one.dotted.rpartition(".")[2] for one in graph.mro(both)] == [
        "Both", "Left", "Right", "Root", "Module",
    ]  # fmt: skip
    assert graph.method(both, "run").qualname == "Left.run"
    assert graph.method(both, "limit").location.line == 3
    assert {one.qualname for one in graph.subclasses("torch.nn.Module")} == {"Root", "Left", "Right", "Both"}


def test_broken_source_still_gives_what_can_be_read(graph):
    module = graph.module("sglang.srt.broken")
    assert module.broken
    assert "Whole" in [one.qualname for one in module.classes]


def test_symbol_at_names_the_innermost_definition(graph):
    module = graph.module("sglang.srt.user")
    assert symbol_at(module, 7) == "outer.inner"
    assert symbol_at(module, 1) is None


def test_loaded_graph_equals_the_lazy_one(graph, tmp_path):
    tree: SourceTree = MemoryTree(FILES)
    for _ in ("cold", "warm"):
        loaded = ModuleGraph(tree, FactStore(tmp_path))
        loaded.load_all()
        assert list(loaded.modules()) == list(graph.modules())


def test_damaged_cache_is_built_again_and_told(tmp_path: Path):
    first = FactStore(tmp_path)
    ModuleGraph(MemoryTree(FILES), first).load_all()
    first.close()
    (tmp_path / "facts.sqlite").write_bytes(b"not a database" * 500)
    store = FactStore(tmp_path)
    graph = ModuleGraph(MemoryTree(FILES), store)
    assert graph.module("sglang.srt.base") and graph.load_all() is not None
    assert any("damaged" in problem for problem in store.problems)
    fresh = FactStore(tmp_path)
    assert not fresh.problems
