"""Models: architectures, hybrid kinds, drafts, radix-cache support, and what the resolver does for them."""

from __future__ import annotations

import re

from indexer.extract.models.architectures import Architecture, architectures
from indexer.extract.models.configs import ConfigClass, ConfigClasses
from indexer.extract.models.drafts import DraftMapping, draft_mappings, drafts_of
from indexer.extract.models.hybrids import (
    BackendChoice,
    Match,
    Predicate,
    Registration,
    find_function,
    kind_of,
    kind_of_model,
    kind_of_predicate,
    match_predicate,
    predicates,
    registrations,
)
from indexer.extract.models.radix import RadixTable, extra_buffer_strategies, radix_table
from indexer.extract.models.sliding import listed_under
from indexer.extract.models.tests import ArchitectureTests
from indexer.extract.reduction import Place
from indexer.knowledge.schema import Location, Model, Value
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.nodes import node_of

__all__ = ["extract_models"]

_DRAFT_NAME = re.compile(r"(NextN|MTP|Eagle|DFlash\w*|DSpark\w*|DraftModel|Assistant\w*)$|Draft|Eagle3")
_SLIDING = ("is_hybrid_swa_model", "is_hybrid_model")
"""The function that lists sliding-window hybrids, by its names through the releases."""
_CONFIGS = (f"{PACKAGE_ROOT}/srt/configs",)


def extract_models(graph: ModuleGraph) -> list[Model]:
    """Return every model architecture of the tree, in path and line order."""
    return _Extraction(graph).run()


class _Extraction:
    def __init__(self, graph: ModuleGraph) -> None:
        self.graph = graph
        self.architectures = architectures(graph)
        self.by_name = {one.name: one for one in self.architectures}
        configs = ConfigClasses(graph)
        self.configs = {one.name: configs.of(one) for one in self.architectures}
        self.tests = ArchitectureTests(graph, self.configs)
        self.predicates: list[Predicate] = predicates(graph)
        self.registrations: list[Registration] = registrations(graph)
        self.backends = BackendChoice(graph, self.tests, [one.name for one in self.predicates])
        self.mappings: list[DraftMapping] = draft_mappings(graph)
        self.drafts = {one.draft for one in self.mappings if isinstance(one.draft, str)}
        self.radix: RadixTable = radix_table(graph, self.tests, list(self.by_name))
        self.sliding = self._sliding_window()
        self.with_extra_buffer = extra_buffer_strategies(graph)

    def run(self) -> list[Model]:
        return [self._model(one) for one in self.architectures]

    def _model(self, architecture: Architecture) -> Model:
        config = self.configs[architecture.name]
        is_draft = architecture.name in self.drafts or bool(_DRAFT_NAME.search(architecture.name))
        return Model(
            architecture.name,
            architecture.definition.location,  # type: ignore[arg-type]
            architecture.entry_at,
            config.name or None,
            self._hybrid(architecture, config) if not is_draft else self._sliding_only(architecture),
            self._draft(architecture),
            self._radix_support(architecture),
            [] if is_draft else self._backend_rules(config, architecture.name),
            is_draft=is_draft,
        )

    # -- hybrid kind -----------------------------------------------------------------------------

    def _hybrid(self, architecture: Architecture, config: ConfigClass) -> dict[str, Value] | None:
        """Return the first kind found, with every further one under ``also``."""
        found = [
            self._kind(match, config, architecture) for match in self._matches(config, architecture.name)
        ]
        named = [one for one in self.registrations if architecture.name in one.architectures]
        found += [self._registered(one, config) for one in named]
        sliding = self._sliding_only(architecture)
        if sliding is not None:
            found.append(sliding)
        if not found:
            return None
        first, *others = found
        return _told({**first, "config_found_by": config.how, "also": [_told(one) for one in others]})

    def _backend_rules(self, config: ConfigClass, architecture: str) -> list[dict[str, Value]]:
        """Return what the choice of the hybrid backend asserts about the attention backend."""
        return [
            _told({"kind": "assert", "requires": test, "condition": condition, "at": at})
            for match in self._matches(config, architecture)
            for test, condition, at in self.backends.restrictions(match.predicate, config)
        ]

    def _matches(self, config: ConfigClass, architecture: str) -> list[Match]:
        found = (match_predicate(one, config, self.tests, architecture) for one in self.predicates)
        return [one for one in found if one is not None]

    def _kind(self, match: Match, config: ConfigClass, architecture: Architecture) -> dict[str, Value]:
        chosen = self.backends.of(match.predicate, config)
        kind = kind_of_predicate(match.predicate)
        if chosen is not None:
            kind = kind_of_model(self.graph.tree.text(str(architecture.definition.path)), chosen[0])
        return {
            "kind": kind,
            "predicate": match.predicate,
            "predicate_at": match.at,
            "through": match.config_class,
            "condition": match.condition,
            "backend": chosen[0] if chosen else None,
            "backend_at": chosen[1] if chosen else None,
        }

    def _registered(self, one: Registration, config: ConfigClass) -> dict[str, Value]:
        backend = one.backend.rpartition(".")[2] if one.backend else None
        chosen = self.backends.of("register_linear_attn_model", config)
        return {
            "kind": kind_of(backend) if backend else "registered",
            "predicate": "register_linear_attn_model",
            "predicate_at": one.at,
            "through": one.config_class,
            "condition": None,
            "backend": backend,
            "backend_at": chosen[1] if chosen else one.at,
        }

    def _sliding_window(self) -> tuple[str, dict[str, tuple[Location, str | None]]]:
        """Return the function that lists sliding-window hybrids, and each with its line and condition."""
        for name in _SLIDING:
            definition = find_function(self.graph, name, _CONFIGS)
            node = node_of(self.graph, definition) if definition else None
            module = self.graph.module(definition.module) if definition else None
            if definition is not None and node is not None and module is not None:
                return name, listed_under(node, Place(module, definition.qualname, node), self.tests)
        return "", {}

    def _sliding_only(self, architecture: Architecture) -> dict[str, Value] | None:
        predicate, listed = self.sliding
        found = listed.get(architecture.name)
        if found is None:
            return None
        facts: dict[str, Value] = {
            "kind": "sliding window",
            "predicate": predicate,
            "predicate_at": found[0],
            "through": architecture.name,
            "condition": found[1],
        }
        return _told(facts)

    # -- drafts and radix cache ------------------------------------------------------------------

    def _draft(self, architecture: Architecture) -> dict[str, Value] | None:
        found = drafts_of(self.mappings, self.tests, architecture.name)
        if not found:
            return None
        first, *others = [self._mapped(mapping, condition) for mapping, condition in found]
        return _told({**first, "also": others})

    def _mapped(self, mapping: DraftMapping, condition: str | None) -> dict[str, Value]:
        target = self.by_name.get(mapping.draft) if isinstance(mapping.draft, str) else None
        facts: dict[str, Value] = {
            "architecture": mapping.draft,
            "mapping_at": mapping.at,
            "condition": condition,
            "class_at": target.definition.location if target else None,
            "entry_class_at": target.entry_at if target else None,
        }
        return _told(facts)

    def _radix_support(self, architecture: Architecture) -> dict[str, Value] | None:
        registered = next((one for one in self.registrations if architecture.name in one.architectures), None)
        support = self.radix.by_architecture.get(architecture.name)
        if registered is not None and support is None:
            return {
                "radix": registered.at if registered.radix else False,
                "extra_buffer": registered.at if registered.extra_buffer else False,
                "strategies": self._strategies(registered.radix, registered.extra_buffer),
                **self._strategies_at(registered.extra_buffer),
                "branch_at": registered.at,
            }
        if support is None:
            return None
        yes, extra = bool(support.radix), bool(support.extra_buffer)
        facts: dict[str, Value] = {
            "radix": support.radix or False,
            "extra_buffer": support.extra_buffer or False,
            "strategies": self._strategies(yes, extra),
            **self._strategies_at(extra),
            "branch_at": support.branch_at,
        }
        return _told(facts)

    def _strategies(self, radix: bool, extra_buffer: bool) -> list[str]:
        if not radix and not extra_buffer:
            return []
        return ["no_buffer", *(self.with_extra_buffer or ["extra_buffer"])] if extra_buffer else ["no_buffer"]

    def _strategies_at(self, extra_buffer: bool) -> dict[str, Value]:
        first = next(iter(self.with_extra_buffer.values()), None)
        return {"strategies_at": first} if extra_buffer and first is not None else {}


def _told(facts: dict[str, Value]) -> dict[str, Value]:
    """Return only what is known."""
    return {key: value for key, value in facts.items() if value not in (None, [])}
