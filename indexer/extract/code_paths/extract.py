"""All named paths of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from indexer.collector import collector_postponed
from indexer.extract.code_paths.context import Context, Tree
from indexer.extract.code_paths.findings import findings_of
from indexer.extract.code_paths.matching import Matcher
from indexer.extract.code_paths.plan import Hybrid, Path, Plan, load_plan, plan_bytes, variant
from indexer.extract.code_paths.steps import as_code_path
from indexer.extract.code_paths.tree import grow
from indexer.knowledge.schema import CodePath
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph.edges import Node
from indexer.syntax.callgraph.load import load_symbols, whole_tree_key
from indexer.syntax.callgraph.symbols import Symbols
from indexer.syntax.factstore import FactStore


def extract_code_paths(
    tree: SourceTree,
    store: FactStore | None = None,
    names: Iterable[str] | None = None,
    symbols: Callable[[], Symbols] | None = None,
) -> list[CodePath]:
    """Return the named code paths of a tree (all, or those in ``names``).

    With a ``store`` the result is kept under the content of all files, the plan and the version here.
    ``symbols`` gives the tree's where somebody has them.

    Raises:
        CannotError: ``queries/paths.toml`` is broken.
    """
    key = whole_tree_key(tree, store, "paths", plan_bytes()) if store is not None else b""
    wanted = set(names) if names is not None else None
    held = store.load([key]).get(key) if store is not None else None
    if held is not None:
        paths = msgspec.msgpack.decode(held, type=list[CodePath])
    else:
        with collector_postponed():
            paths = paths_of(Tree(symbols() if symbols else load_symbols(tree, store), load_plan()))
        if store is not None:
            store.save({key: msgspec.msgpack.encode(paths)})
    return [path for path in paths if wanted is None or path.name in wanted]


def code_path_variant(
    tree: SourceTree,
    store: FactStore,
    name: str,
    algorithm: str | None = None,
    model: Hybrid | None = None,
) -> CodePath | None:
    """Return a named path followed for another algorithm or another hybrid model; None where the tree has
    nothing that the path is about. Results are kept as those of ``extract_code_paths`` are.
    """
    name, path = variant(load_plan(), name, algorithm, model)
    settings = plan_bytes() + msgspec.json.encode((name, path))
    key = whole_tree_key(tree, store, "path-variant", settings)
    held = store.load([key]).get(key)
    if held is not None:
        return msgspec.msgpack.decode(held, type=CodePath | None)
    with collector_postponed():
        found = _followed(Tree(load_symbols(tree, store), load_plan()), name, path)
    store.save({key: msgspec.msgpack.encode(found)})
    return found


def path_counts(paths: list[CodePath]) -> dict[str, int]:
    """Return the ratchets of the coverage page: steps, guesses, unconnected roots, missing points."""
    steps = [step for path in paths for step in path.steps]
    return {
        "paths": len(paths),
        "complete": sum(path.complete for path in paths),
        "steps": len(steps),
        "guessed steps": sum(step.certainty == "guessed" for step in steps),
        "unconnected steps": sum(step.unconnected for step in steps),
        "missing way-points": sum(not gap["excused"] for path in paths for gap in path.gaps),
        "rightly absent way-points": sum(gap["excused"] for path in paths for gap in path.gaps),
    }


def paths_of(tree: Tree) -> list[CodePath]:
    """Return every path of the plan that the tree can have, in the plan's order."""
    found = [path for name in tree.plan.path if (path := path_of(tree, name)) is not None]
    compare_siblings(tree.plan, found)
    return found


def path_of(tree: Tree, name: str) -> CodePath | None:
    """Return one path; None when the tree has nothing the path is about."""
    return _followed(tree, name, tree.plan.path[name])


def _followed(tree: Tree, name: str, path: Path) -> CodePath | None:
    if not _applies(tree, path):
        return None
    context = tree.context(path)
    grown = grow(context, path)
    result = as_code_path(name, path, context, grown)
    if path.compare:
        result.findings.extend(findings_of(context, path, grown))
    return result


def compare_siblings(plan: Plan, paths: list[CodePath]) -> None:
    """Add a finding to each path that lacks a way-point which a path of the same family has."""
    having: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        family = plan.path[path.name].extends or path.name
        for step in path.steps:
            for point in step.points:
                having.setdefault((family, point), []).append(path.name)
    for path in paths:
        family = plan.path[path.name].extends or path.name
        steps = {step.id: step for step in path.steps}
        for gap in path.gaps:
            siblings = having.get((family, str(gap.get("point"))), [])
            if gap["excused"] or not siblings or gap.get("below") is None:
                continue
            below = steps[gap["below"]]
            path.findings.append(
                {
                    "kind": "missing-waypoint",
                    "what": f"{below.function} never reaches {gap['point']!r}, which sibling paths have",
                    "point": gap["point"],
                    "siblings": siblings,
                    "at": [f"{below.at.path}:{below.at.line}"],
                }
            )


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
        for f in context.candidates(path.needs)
    )
