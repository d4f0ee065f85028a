"""Speculative algorithms: members, spellings, predicates, workers, drafts, defaults."""

from __future__ import annotations

from indexer.extract.algorithms.aliases import aliases
from indexer.extract.algorithms.command_line import command_line_choice
from indexer.extract.algorithms.logic import MemberLogic
from indexer.extract.algorithms.members import NO_ALGORITHM, PARSER, Registry, find_registry
from indexer.extract.algorithms.workers import creator, platform_hook, workers
from indexer.knowledge.schema import Algorithm, AlgorithmRegistry, Alias, Location
from indexer.syntax.graph import ModuleGraph

__all__ = ["extract_algorithms"]


def extract_algorithms(graph: ModuleGraph) -> tuple[AlgorithmRegistry, list[Algorithm]]:
    """Return where the tree's algorithms are declared, and each of them.

    The list is empty for a tree without speculation. Spellings that only resolve to another algorithm
    are ``aliases`` of that one.
    """
    registry = find_registry(graph)
    if registry is None:
        return AlgorithmRegistry(), []
    logic = MemberLogic(graph, registry)
    spellings = aliases(graph, registry)
    promotions = [one for one in spellings if _is_promotion(one, spellings, registry)]
    choice = command_line_choice(graph)
    result = []
    for name, member in registry.members.items():
        at = choice.sites.values.get(name)
        result.append(
            Algorithm(
                name,
                member.at,
                cli=at is not None if choice.listed else name != NO_ALGORITHM,
                kind=member.kind,
                aliases=[one for one in spellings if one.resolves_to == name and one not in promotions],
                promoted_from=[one for one in promotions if one.resolves_to == name],
                predicates=logic.predicates(name),
                predicates_at=logic.predicates_at(),
                workers=workers(graph, registry, logic, name) if name != NO_ALGORITHM else [],
                cli_at=at,
                documented=choice.listed or name in choice.help,
            )
        )
    return _registry_facts(graph, registry), result


def _is_promotion(alias: Alias, spellings: list[Alias], registry: Registry) -> bool:
    """Tell what a member (or its alias, in the same breath) becomes from a mere other spelling."""
    if alias.name in registry.members:
        return True
    return any(one.name in registry.members and one.at == alias.at for one in spellings)


def _registry_facts(graph: ModuleGraph, registry: Registry) -> AlgorithmRegistry:
    create = creator(graph, registry)
    return AlgorithmRegistry(
        declared_at=registry.at,
        parsed_at=_method_at(registry, PARSER),
        worker_at=create.location if create else None,
        open=registry.open_at is not None,
        open_at=registry.open_at,
        platform_at=platform_hook(graph, registry),
    )


def _method_at(registry: Registry, name: str) -> Location | None:
    method = registry.method(name)
    if method is None:
        return None
    return Location(registry.module.path, method.line, method.end_line, method.qualname)
