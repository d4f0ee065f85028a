"""Spellings that are not members: where the tree turns them into one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from indexer.extract.algorithms.members import PARSER, Registry
from indexer.extract.literal_sites import LiteralTracer
from indexer.extract.reduction import Place, written_path
from indexer.knowledge.schema import Alias, Condition, Location
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.guards import Guard, guarded_statements
from indexer.syntax.nodes import node_of
from indexer.syntax.parse import line, location, string_value, text

_FIELD = re.compile(r"(^|\.)speculative_algorithm$")
_RESOLVER = (f"{PACKAGE_ROOT}/srt/server_args.py", f"{PACKAGE_ROOT}/srt/arg_groups/")


def resolver_paths(graph: ModuleGraph) -> list[str]:
    """Return the files that resolve launch arguments."""
    return [path for path in graph.tree.paths() if path.startswith(_RESOLVER)]


def aliases(graph: ModuleGraph, registry: Registry) -> list[Alias]:
    """Return every alias and promotion, in the order in which the tree resolves them."""
    found = list(_in_resolver(graph, registry))
    for member in registry.members.values():
        found += [Alias(alias, member.name, at) for alias, at in member.aliases.items()]
    found += _in_parser(graph, registry)
    return found


def _in_resolver(graph: ModuleGraph, registry: Registry) -> Iterator[Alias]:
    """Yield what assigns or returns a member's name under a test for another spelling."""
    for path in resolver_paths(graph):
        if b"speculative_algorithm" not in graph.tree.read(path):
            continue
        module = graph.module(path)
        for record in module.functions if module else []:
            definition = Definition("function", module.name, record.qualname, path, record)  # type: ignore[union-attr]
            node = node_of(graph, definition)
            if module is None or node is None or "speculative_algorithm" not in text(node):
                continue
            for one in guarded_statements(node):
                target = _result(one.statement)
                if target is None or target not in registry.members:
                    continue
                spellings, rest = _tested(one.guards, Place(module, record.qualname, node))
                for name in spellings:
                    if name != target:
                        at = location(one.statement, path, record.qualname)
                        yield Alias(name, target, at, written_path(rest))


def _result(statement: Node) -> str | None:
    """Return the algorithm name a statement assigns to the field, or returns."""
    inner = statement.named_children[0] if statement.named_children else None
    if inner is None:
        return None
    if statement.type == "return_statement":
        return string_value(inner)
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if inner.type == "assignment" and left is not None and right is not None and _FIELD.search(text(left)):
        return string_value(right)
    return None


def _tested(guards: tuple[Guard, ...], place: Place) -> tuple[list[str], list[Condition]]:
    """Return the spellings that the tests ask for, and the other conditions."""
    spellings: list[str] = []
    rest: list[Condition] = []
    for guard in guards:
        names = _spellings(guard.test) if guard.holds else []
        if names:
            spellings = names
        elif not _FIELD.search(text(guard.test)) and "speculative_algorithm" not in text(guard.test):
            at = Location(place.module.path, line(guard.test))
            rest.append(Condition(" ".join(text(guard.test).split()), guard.holds, at))
    return spellings, rest


def _spellings(test: Node) -> list[str]:
    if test.type == "parenthesized_expression":
        return _spellings(test.named_children[0])
    if test.type == "boolean_operator" and text(test.child_by_field_name("operator") or test) == "or":
        sides = [_spellings(child) for child in test.named_children]
        return [name for side in sides for name in side] if all(sides) else []
    if test.type != "comparison_operator" or len(test.named_children) != 2:
        return []
    left, right = test.named_children
    if not _FIELD.search(text(left)):
        return []
    operator = " ".join(text(child) for child in test.children_by_field_name("operators"))
    if operator == "==":
        value = string_value(right)
        return [value] if value else []
    if operator == "in" and right.type in ("tuple", "list", "set"):
        return [value for child in right.named_children if (value := string_value(child))]
    return []


def _in_parser(graph: ModuleGraph, registry: Registry) -> list[Alias]:
    """Return what ``from_string`` maps beside the members' names: ``if name in RESERVED: return cls.X``."""
    definition = next(
        iter(graph.definitions(registry.module, f"{registry.definition.qualname}.{PARSER}")), None
    )
    node = node_of(graph, definition) if definition else None
    if definition is None or node is None:
        return []
    tracer = LiteralTracer(graph)
    result = []
    for one in guarded_statements(node):
        value = one.statement.named_children[0] if one.statement.named_children else None
        if one.statement.type != "return_statement" or value is None or not one.guards:
            continue
        target = text(value).rpartition(".")[2]
        test = one.guards[-1].test
        if target not in registry.members or test.type != "comparison_operator" or not one.guards[-1].holds:
            continue
        names = tracer.trace(test.named_children[-1], registry.module, definition.qualname).values
        at = location(one.statement, registry.module.path, definition.qualname)
        result += [Alias(name, target, at) for name in names if isinstance(name, str) and name != target]
    return result
