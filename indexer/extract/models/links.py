"""What the resolver's rules do for each model: overrides, and attention backends chosen or refused."""

from __future__ import annotations

import re

from indexer.extract.guard_texts import GuardTexts, tests
from indexer.extract.models.architectures import architectures
from indexer.extract.models.configs import ConfigClasses
from indexer.extract.models.drafts import MODULE as DRAFT_MODULE
from indexer.extract.models.tests import ArchitectureTests
from indexer.extract.reduction import Place
from indexer.knowledge.schema import Model, Rule, Value
from indexer.syntax.graph import ModuleGraph

_BACKEND = re.compile(r"(^|[._])attention_backend$")
_REFUSALS = ("error", "assert")
_ANY_OTHER = "SomeOtherForCausalLM"
"""An architecture that no rule names: what applies to it as well is not about a model."""


def link_models(graph: ModuleGraph, models: list[Model], rules: list[Rule]) -> None:
    """Fill in the overrides and attention backends of every model, from rules that name its architecture.

    The models are changed in place. Rules that apply to every model are left out, and so is the rewriting
    of a draft's configuration, which ``Model.draft`` tells.
    """
    configs = ConfigClasses(graph)
    reducer = ArchitectureTests(graph, {one.name: configs.of(one) for one in architectures(graph)})
    texts = GuardTexts(graph, reducer)
    by_name = {one.architecture: one for one in models}
    for rule in rules:
        if rule.at.path == DRAFT_MODULE or rule.kind == "notice":
            continue
        for name in _named(graph, rule, texts, reducer) & by_name.keys():
            left = texts.path(rule, name)
            if left is not None and texts.path(rule, _ANY_OTHER) is None:
                _add(by_name[name], rule, left)


def _named(graph: ModuleGraph, rule: Rule, texts: GuardTexts, reducer: ArchitectureTests) -> set[str]:
    """Return the architectures that a rule's tests ask for by name."""
    found: set[str] = set()
    for condition in tests(rule):
        if not reducer.hint.search(condition.text):
            continue
        module, node = graph.module((condition.at or rule.at).path), texts.node(condition)
        if module is not None and node is not None:
            found |= {str(name) for name in reducer.architectures_in(node, Place(module)).values}
    return found


def _add(model: Model, rule: Rule, left: list[str]) -> None:
    entry: dict[str, Value] = {"rule": rule.id, "kind": rule.kind, "at": rule.at}
    if rule.kind == "override":
        values = [*rule.values, *[""] * len(rule.targets)]
        entry["sets"] = dict(zip(rule.targets, values, strict=False))
    elif rule.kind == "assert":
        entry["requires"] = " and ".join(rule.values)
    if rule.message:
        entry["message"] = rule.message
    if left:
        entry["condition"] = " and ".join(f"({one})" if " or " in one else one for one in left)
    about_backend = any(_BACKEND.search(name) for name in rule.targets) or (
        rule.kind in _REFUSALS and any(_BACKEND.search(name) for name in rule.flags)
    )
    (model.backends if about_backend else model.overrides).append(entry)
