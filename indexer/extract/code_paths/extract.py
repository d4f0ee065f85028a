"""All named paths of a tree."""

from __future__ import annotations

from indexer.extract.code_paths.context import Context, Tree
from indexer.extract.code_paths.matching import Matcher
from indexer.extract.code_paths.plan import Path, Plan
from indexer.extract.code_paths.steps import as_code_path
from indexer.extract.code_paths.tree import grow
from indexer.knowledge.schema import CodePath
from indexer.syntax.callgraph.edges import Node


def paths_of(tree: Tree) -> list[CodePath]:
    """Return every path of the plan that the tree can have, in the plan's order."""
    return [found for name in tree.plan.path if (found := path_of(tree, name)) is not None]


def path_of(tree: Tree, name: str) -> CodePath | None:
    """Return one path; None when the tree has nothing the path is about."""
    path = tree.plan.path[name]
    if not _applies(tree, path):
        return None
    context = tree.context(path)
    return as_code_path(name, path, context, grow(context, path))


def _applies(tree: Tree, path: Path) -> bool:
    """Whether the tree has what the path needs, and knows the algorithm."""
    plan: Plan = tree.plan
    enum = plan.template.get("worker", {}).get("enum", "")
    table = tree.enums.get(enum)
    if table is None or path.algorithm not in table.members:
        return False
    if path.needs is None:
        return True
    context: Context = tree.context(path)
    matcher: Matcher = context.matcher
    return any(
        matcher.plays(path.needs, Node(f, (f.cls, False) if f.cls else None), None)
        for f in tree.symbols.functions.values()
        if not context.outside(f.module.path)
    )
