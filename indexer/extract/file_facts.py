"""The per-file facts of a whole tree, gathered in one pass over its files."""

from __future__ import annotations

from collections.abc import Iterable

from indexer.source.tree import PACKAGE_ROOT, SourceTree
from indexer.syntax.facts import Extractor, FileFacts, collect
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph

RUNTIME = f"{PACKAGE_ROOT}/srt"
_LEFT_OUT = (f"{PACKAGE_ROOT}/test/", f"{PACKAGE_ROOT}/multimodal_gen/")
"""Tests, and the diffusion server: neither is part of the language-model runtime."""


def read_elsewhere(tree: SourceTree) -> list[str]:
    """Return the files outside the runtime whose facts count."""
    return [path for path in tree.walk() if not path.startswith((f"{RUNTIME}/", *_LEFT_OUT))]


def load_facts(
    graph: ModuleGraph, extractors: Iterable[Extractor], elsewhere: Iterable[Extractor] | None = None
) -> FileFacts:
    """Index the runtime's modules and run extractors over its files, each file parsed once.

    ``elsewhere`` are the extractors that also run over the package's other folders (default: all).
    """
    wanted = tuple(extractors)
    facts = graph.load_all(RUNTIME, wanted)
    others = tuple(wanted if elsewhere is None else elsewhere)
    facts.update(collect(graph.tree, read_elsewhere(graph.tree), others, graph.store))
    return facts


def facts_alone(
    tree: SourceTree, extractors: Iterable[Extractor], elsewhere: Iterable[Extractor], store: FactStore
) -> FileFacts:
    """Run extractors as ``load_facts`` does, but index no modules: for who asks for few of them by name."""
    facts = collect(tree, tree.walk(RUNTIME), tuple(extractors), store)
    facts.update(collect(tree, read_elsewhere(tree), tuple(elsewhere), store))
    return facts
