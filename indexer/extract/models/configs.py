"""Which configuration class an architecture is served with.

Checkpoints join the two, the tree only hints: the annotation of the model's own constructor, the name
(``Qwen3NextForCausalLM`` and ``Qwen3NextConfig``), an inherited constructor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from indexer.extract.models.architectures import Architecture
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.nodes import node_of
from indexer.syntax.parse import text

_FOLDERS = (f"{PACKAGE_ROOT}/srt/configs", f"{PACKAGE_ROOT}/srt/models")
_TEXT_CONFIG = re.compile(r"\b(?:text|llm|language)_config\b[^\n]*?\b([A-Z]\w*Config)\b")
CHECKPOINT_CONFIGS = {
    # Nothing in the tree joins these two: only the checkpoints' config.json does.
    "BailingMoeV2_5ForCausalLM": "BailingHybridConfig",
    "BailingMoeV3ForCausalLM": "BailingHybridConfig",
}
"""Configuration classes of architectures whose files name none; used where the tree has the class."""

_GENERAL = {"AutoConfig", "PretrainedConfig", "PreTrainedConfig", "Any", "dict", "object"}
_TEXT_ONLY = re.compile(r"For(CausalLM|SequenceClassification)")


@dataclass
class ConfigClass:
    """A configuration class: the names it and its bases have, and those of its text configuration.

    ``model_types`` are what checkpoints of it may state; ``how`` says what joins it to the architecture.
    """

    name: str
    how: str
    names: list[str] = field(default_factory=list)
    text_names: list[str] = field(default_factory=list)
    model_types: list[str] = field(default_factory=list)


class ConfigClasses:
    """Finds the configuration classes of a tree."""

    def __init__(self, graph: ModuleGraph) -> None:
        self.graph = graph

    @cached_property
    def by_name(self) -> dict[str, Definition]:
        """All classes of the tree that are named like configurations."""
        found: dict[str, Definition] = {}
        for folder in _FOLDERS:
            for module in self.graph.modules(folder):
                for record in module.classes:
                    if record.qualname.endswith("Config") and "." not in record.qualname:
                        one = Definition("class", module.name, record.qualname, module.path, record)
                        found.setdefault(record.qualname, one)
        return found

    @cached_property
    def by_model_type(self) -> dict[str, list[str]]:
        """The names of the configuration classes that state each ``model_type``."""
        found: dict[str, list[str]] = {}
        for folder in _FOLDERS:
            for module in self.graph.modules(folder):
                for record in module.assignments:
                    owner, _, name = record.qualname.rpartition(".")
                    if name == "model_type" and record.value:
                        found.setdefault(record.value.strip("'\""), []).append(owner)
        return found

    def of(self, architecture: Architecture) -> ConfigClass:
        """Return the configuration class of an architecture; without names where nothing hints at one."""
        found = self._of(architecture) or ConfigClass("", "unknown")
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", architecture.stem).lower()
        for one, owners in self.by_model_type.items():
            if any(name in owners for name in found.names[:1]):
                found.model_types.append(one)
        found.model_types.append(snake)
        return found

    def _of(self, architecture: Architecture) -> ConfigClass | None:
        own, inherited = self._annotated(architecture.definition)
        by_name = f"{architecture.stem}Config"
        if own is not None:
            return self.describe(self._outer(own, architecture), "annotation of its constructor")
        if _TEXT_ONLY.search(architecture.name) and f"{architecture.stem}TextConfig" in self.by_name:
            return self.describe(f"{architecture.stem}TextConfig", "its name")
        if by_name in self.by_name:
            return self.describe(by_name, "its name")
        plain = architecture.stem.lower().replace("_", "")
        for model_type, owners in self.by_model_type.items():
            if model_type.replace("_", "").lower() == plain and owners[0] in self.by_name:
                return self.describe(owners[0], "its model type")
        if inherited is not None:
            return self.describe(inherited, "annotation of an inherited constructor")
        known = CHECKPOINT_CONFIGS.get(architecture.name)
        return self.describe(known, "checkpoints") if known in self.by_name else None

    def _outer(self, name: str, architecture: Architecture) -> str:
        """Return the configuration around a text configuration, where the model takes more than text."""
        if _TEXT_ONLY.search(architecture.name):
            return name
        for outer, definition in self.by_name.items():
            if (
                outer.startswith(architecture.stem)
                and outer != name
                and name in self._text_of(definition)[:1]
            ):
                return outer
        return name

    def _annotated(self, definition: Definition) -> tuple[str | None, str | None]:
        """Return the annotated configuration class of the class's own constructor and of an inherited one."""
        for owner in self.graph.mro(definition):
            module = self.graph.module(owner.module) if owner.kind == "class" else None
            wanted = f"{owner.qualname}.__init__"
            for function in module.functions if module else ():
                if function.qualname != wanted:
                    continue
                for parameter in function.parameters:
                    if parameter.name in ("config", "hf_config") and parameter.annotation:
                        names = re.findall(r"\b([A-Z]\w*)\b", parameter.annotation)
                        name = next((one for one in names if one.endswith("Config")), None)
                        if name and name not in _GENERAL:
                            return (name, None) if owner == definition else (None, name)
        return None, None

    def describe(self, name: str, how: str) -> ConfigClass:
        """Return a configuration class with the names of its bases and of its text configuration's."""
        definition = self.by_name.get(name)
        result = ConfigClass(name, how, [name])
        if definition is None:
            return result
        result.names = [one.qualname.rpartition(".")[2] for one in self.graph.mro(definition)]
        result.text_names = self._text_of(definition)
        return result

    def _text_of(self, definition: Definition) -> list[str]:
        """Return the names of a configuration's text configuration and its bases."""
        for owner in self.graph.mro(definition):
            for source in self._sources(owner):
                for match in _TEXT_CONFIG.finditer(source):
                    name = match.group(1)
                    text_class = self.by_name.get(name)
                    if name not in _GENERAL and name != definition.qualname and text_class is not None:
                        return [one.qualname.rpartition(".")[2] for one in self.graph.mro(text_class)]
        return []

    def _sources(self, owner: Definition) -> Iterator[str]:
        """Yield where a class says its text configuration: its body, then helpers named after it."""
        node = node_of(self.graph, owner)
        module = self.graph.module(owner.module) if node is not None else None
        if node is None or module is None:
            return
        yield text(node)
        for function in module.functions:
            if "text_config" in function.qualname and "." not in function.qualname:
                helper = Definition("function", module.name, function.qualname, module.path, function)
                helper_node = node_of(self.graph, helper)
                yield f"text_config {' '.join(text(helper_node).split())}" if helper_node is not None else ""
