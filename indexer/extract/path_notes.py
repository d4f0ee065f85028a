"""What stands beside a code path: its way-points in other classes, drafts that ignore their layer."""

from __future__ import annotations

import re
from collections import defaultdict

from indexer.extract.code_paths.plan import load_plan
from indexer.extract.models.architectures import FOLDER as MODELS
from indexer.knowledge.schema import CodePath, Model, Value
from indexer.source.tree import PACKAGE_ROOT, SourceTree
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.nodes import node_of
from indexer.syntax.parse import text

_MOST_VERSIONS = 6
"""A method name that more classes define says nothing about their doing the same (``forward``)."""
_SHORTEST = 12


def add_path_notes(graph: ModuleGraph, models: list[Model], paths: list[CodePath]) -> None:
    """Add to each path, in place, what its steps alone don't show.

    Way-points get the same method of other classes as alternatives (another platform's backend, say); the
    path of several MTP layers gets the draft classes that take a layer's number and never use it.
    """
    _add_versions(graph, paths)
    plan = load_plan()
    for path in paths:
        if path.name in plan.path and (parameter := plan.path[path.name].layer_parameter):
            path.findings.extend(ignored_layers(graph, models, parameter))


def _add_versions(graph: ModuleGraph, paths: list[CodePath]) -> None:
    wanted = {
        step.function.rpartition(".")[2]
        for path in paths
        for step in path.steps
        if step.waypoint and "." in step.function
    }
    found = _definitions(
        graph, {name for name in wanted if len(name) >= _SHORTEST and not name.startswith("__")}
    )
    for path in paths:
        for step in path.steps:
            versions = found.get(step.function.rpartition(".")[2], []) if step.waypoint else []
            if len(versions) > _MOST_VERSIONS:
                continue
            told = {one["function"] for one in step.alternatives}
            step.alternatives.extend(
                {"function": name, "at": f"{place}:{line}", "how": "the same method of another class"}
                for name, place, line in versions
                if (place, line) != (step.at.path, step.at.line) and name not in told
            )


def _definitions(graph: ModuleGraph, names: set[str]) -> dict[str, list[tuple[str, str, int]]]:
    """Return where each method is defined: (qualified name, path, line), in path and line order."""
    found: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    if not names:
        return found
    mark = re.compile(rb"def (" + b"|".join(sorted(name.encode() for name in names)) + rb")\(")
    for path in _python(graph.tree):
        if not mark.search(graph.tree.read(path)):
            continue
        module = graph.module(path)
        for record in module.functions if module else ():
            name = record.qualname.rpartition(".")[2]
            if name in names and record.in_class:
                found[name].append((record.qualname, path, record.line))
    return found


def _python(tree: SourceTree) -> list[str]:
    return [path for path in tree.walk(f"{PACKAGE_ROOT}/srt") if path.endswith(".py")]


def ignored_layers(graph: ModuleGraph, models: list[Model], parameter: str) -> list[dict[str, Value]]:
    """Return a finding for each draft class that takes the number of its layer and never uses it.

    It is one only where another draft class does use it to choose its layer's weights.
    """
    ignoring: list[tuple[str, str]] = []
    using: list[str] = []
    for path in graph.tree.walk(MODELS):
        if parameter.encode() not in graph.tree.read(path):
            continue
        module = graph.module(path)
        for record in module.functions if module else ():
            owner, _, name = record.qualname.rpartition(".")
            if name != "__init__" or parameter not in {one.name for one in record.parameters}:
                continue
            node = node_of(graph, Definition("function", module.name, record.qualname, path, record))  # type: ignore[union-attr]
            body = node.child_by_field_name("body") if node is not None else None
            if body is None:
                continue
            if parameter in text(body):
                using.append(owner)
            else:
                head = text(node).partition(parameter)[0] if node is not None else ""
                ignoring.append((owner, f"{path}:{record.line + head.count(chr(10))}"))
    drafts = {one.architecture for one in models if one.is_draft}
    others = f"{', '.join(sorted(set(using)))} {'uses' if len(set(using)) == 1 else 'use'}"
    return [
        {
            "kind": "ignored-parameter",
            "what": f"{owner}.__init__ takes {parameter} and never uses it; {others} it",
            "at": [at],
        }
        for owner, at in ignoring
        if using and owner in drafts
    ]
