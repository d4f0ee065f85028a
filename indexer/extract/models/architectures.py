"""Every model architecture: the classes that model files name in ``EntryClass``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Module

FOLDER = f"{PACKAGE_ROOT}/srt/models"
ENTRY = "EntryClass"
_COMMENT = re.compile(r"#.*")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_SUFFIX = re.compile(
    r"(For(CausalLM|ConditionalGeneration|SequenceClassification|TokenClassification|Embedding|"
    r"BlockDiffusion|MaskedLM|RewardModel)\w*|Model|LMHeadModel)$"
)


@dataclass(frozen=True)
class Architecture:
    """A model class that checkpoints name, and where its file declares it."""

    name: str
    definition: Definition
    entry_at: Location

    @property
    def stem(self) -> str:
        """The name without its task: ``Qwen3NextForCausalLM`` gives ``Qwen3Next``."""
        return _SUFFIX.sub("", self.name)


def architectures(graph: ModuleGraph) -> list[Architecture]:
    """Return all architectures, in path and line order."""
    found: dict[str, Architecture] = {}
    for path in graph.tree.walk(FOLDER):
        if ENTRY.encode() not in graph.tree.read(path):
            continue
        module = graph.module(path)
        for one in _entries(graph, module) if module else ():
            found.setdefault(one.name, one)
    return list(found.values())


def _entries(graph: ModuleGraph, module: Module) -> Iterator[Architecture]:
    for record in module.assignments:
        if record.qualname != ENTRY:
            continue
        at = Location(module.path, record.line, record.end_line, ENTRY)
        for name in _NAME.findall(_COMMENT.sub("", record.value or "")):
            definition = graph.resolve(module, name)
            if definition is not None and definition.kind == "class":
                yield Architecture(definition.qualname, definition, at)
