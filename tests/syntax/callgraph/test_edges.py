"""One small tree per kind of resolution: a true edge, and a bait that must not appear."""

from __future__ import annotations

import textwrap

import pytest

from indexer.syntax.callgraph.edges import Edges, Node
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.load import load_symbols
from indexer.syntax.callgraph.symbols import Symbols
from tests.trees import MemoryTree

ROOT = "python/sglang/srt"

CASES = {
    "concrete beats annotation": (
        """
        class Base:
            def go(self): raise NotImplementedError
        class Real(Base):
            def go(self): pass
        class Bait(Base):
            def go(self): pass
        class Owner:
            def __init__(self):
                self.x: Base = Real()
            def run(self):
                self.x.go()
        """,
        "Owner.run",
        {"Real.go"},
    ),
    "property under a subclass": (
        """
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        class Base:
            @property
            def part(self): return self._part
            def run(self): self.part.go()
        class Child(Base):
            def __init__(self): self._part = A()
        class Sibling(Base):
            def __init__(self): self._part = B()
        """,
        "Child:run",
        {"A.go", "Base.part"},
    ),
    "class handed to super().__init__": (
        """
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        class Base:
            def __init__(self, make=B): self.part = make()
            def run(self): self.part.go()
        class Child(Base):
            def __init__(self): super().__init__(make=A)
        """,
        "Child:run",
        {"A.go"},
    ),
    "function handed to a maker of lists": (
        """
        import torch
        class Layer:
            def forward(self): pass
        class Filler:
            def nothing(self): pass
        def make(n, layer_fn):
            layers = torch.nn.ModuleList([layer_fn(i) for i in range(n)])
            return layers, 0, n
        class Model:
            def __init__(self):
                def get(i): return Layer()
                self.layers, self.a, self.b = make(3, get)
            def run(self):
                for layer in self.layers: layer()
        """,
        "Model.run",
        {"Layer.forward"},
    ),
    "mixin says whose self it is": (
        """
        class Pool:
            def take(self): pass
        class Runner:
            def __init__(self): self.pool = Pool()
        class Mixin:
            def run(self: Runner): self.pool.take()
        """,
        "Mixin.run",
        {"Pool.take"},
    ),
    "abstract stub is never the target": (
        """
        from abc import abstractmethod
        class Base:
            @abstractmethod
            def go(self): ...
        class Real(Base):
            def go(self): pass
        def run(x: Base): x.go()
        """,
        "run",
        {"Real.go"},
    ),
    "import inside a function wins over the module": (
        """
        def helper(): pass
        def run():
            from sglang.srt.other import helper
            helper()
        """,
        "run",
        {"other.helper"},
    ),
    "store just above the use is nearer than the declared base": (
        """
        class Info:
            def prepare(self): raise NotImplementedError
        class Ngram(Info):
            def prepare(self): pass
        class Eagle(Info):
            def prepare(self): pass
        class Batch:
            info: Info
        def run(batch: Batch):
            batch.info = Ngram()
            batch.info.prepare()
        """,
        "run",
        {"Ngram.prepare"},
    ),
    "module of a folder without an __init__": (
        """
        from sglang.srt import other, missing
        class Head:
            body = other.Body
            def run(self):
                other.helper()
                missing.helper()
                self.body().go()
        class Body:
            def go(self): pass
        """,
        "Head:run",
        {"other.helper", "other.Body.go"},
    ),
    "kernel launch": (
        """
        import triton
        @triton.jit
        def kernel(x): pass
        def bait(x): pass
        def run(x): kernel[(1,)](x)
        """,
        "run",
        {"kernel"},
    ),
}

OTHER = "def helper(): pass\nclass Body:\n    def go(self): pass\n"


def tree_of(source: str) -> Symbols:
    files = {f"{ROOT}/a.py": textwrap.dedent(source), f"{ROOT}/other.py": OTHER}
    return load_symbols(MemoryTree(files))


def node_of(symbols: Symbols, name: str) -> Node:
    owner, _, method = name.partition(":")
    if method:
        cls = symbols.classes[f"sglang.srt.a.{owner}"]
        return Node(cls.find(method)[0], (cls, True))
    function = next(
        f for f in symbols.functions.values() if f.qualname == name and f.module.name.endswith(".a")
    )
    return Node(function, (function.cls, False) if function.cls else None)


def shown(symbols: Symbols, node: Node) -> set[str]:
    edges = Edges(Inference(symbols)).of(node)
    return {
        ("other." if e.target.function.module.name.endswith("other") else "") + e.target.function.qualname
        for e in edges
        if e.kind != "constructor"
    }


@pytest.mark.parametrize("name", CASES)
def test_resolution(name: str) -> None:
    source, start, expected = CASES[name]
    symbols = tree_of(source)
    assert shown(symbols, node_of(symbols, start)) == expected


def test_every_edge_is_cited_on_a_line_that_names_the_callee() -> None:
    source, start, _ = CASES["function handed to a maker of lists"]
    symbols = tree_of(source)
    lines = textwrap.dedent(source).splitlines()
    for edge in Edges(Inference(symbols)).of(node_of(symbols, start)):
        assert edge.text.split(".")[-1] in lines[edge.line - 1]


def test_visiting_order_does_not_change_the_answer() -> None:
    source = CASES["property under a subclass"][0]
    symbols = tree_of(source)
    names = ["Child:run", "Sibling:run"]
    forward = Edges(Inference(symbols))
    backward = Edges(Inference(symbols))
    first = [forward.of(node_of(symbols, n)) for n in names]
    second = [backward.of(node_of(symbols, n)) for n in reversed(names)][::-1]
    assert [[e.target for e in edges] for edges in first] == [[e.target for e in edges] for edges in second]
