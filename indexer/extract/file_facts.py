"""The per-file facts of a whole tree, gathered in one pass over its files."""

from __future__ import annotations

from collections.abc import Iterable

from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.facts import Extractor, collect
from indexer.syntax.graph import ModuleGraph

RUNTIME = f"{PACKAGE_ROOT}/srt"
_LEFT_OUT = (f"{PACKAGE_ROOT}/test/", f"{PACKAGE_ROOT}/multimodal_gen/")
"""Tests, and the diffusion server: neither is part of the language-model runtime."""

FileFacts = dict[str, dict[str, bytes]]
"""Encoded facts by path and extractor key."""


def load_facts(
    graph: ModuleGraph, extractors: Iterable[Extractor], elsewhere: Iterable[Extractor] | None = None
) -> FileFacts:
    """Index the runtime's modules and run extractors over its files, each file parsed once.

    ``elsewhere`` are the extractors that also run over the package's other folders (default: all).
    """
    wanted = tuple(extractors)
    facts = graph.load_all(RUNTIME, wanted)
    others = [path for path in graph.tree.walk() if path not in facts and not path.startswith(_LEFT_OUT)]
    facts.update(collect(graph.tree, others, tuple(wanted if elsewhere is None else elsewhere), graph.store))
    return facts
