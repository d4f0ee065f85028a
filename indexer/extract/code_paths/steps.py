"""A grown tree as the snapshot's ``CodePath``."""

from __future__ import annotations

from indexer.extract.code_paths.context import Context
from indexer.extract.code_paths.guards import conditions
from indexer.extract.code_paths.matching import anchor_lines, glob
from indexer.extract.code_paths.plan import Path
from indexer.extract.code_paths.state import effects
from indexer.extract.code_paths.tree import Branch, Grown
from indexer.knowledge.schema import CodePath, Location, Step, Value
from indexer.syntax.callgraph.edges import Edge
from indexer.syntax.callgraph.symbols import Class, Function


def location(function: Function) -> Location:
    """Return where a function is defined."""
    scope = function.scope
    return Location(function.module.path, scope.line, scope.end_line, function.qualname)


def class_location(cls: Class) -> Location:
    """Return where a class is defined."""
    return Location(cls.module.path, cls.scope.line, cls.scope.end_line, cls.qualname)


def as_code_path(name: str, path: Path, context: Context, grown: Grown) -> CodePath:
    """Return the path's record: steps in preorder, what is missing with its reasons."""
    steps: list[Step] = []
    ids: dict[int, str] = {}
    taken: dict[str, int] = {}
    for root in grown.roots:
        for branch, depth in root.walk():
            step = _step(context, branch, depth, ids, taken)
            ids[id(branch)] = step.id
            steps.append(step)
    gaps: list[dict[str, Value]] = [
        {
            "point": missing.point.id,
            "reason": missing.reason,
            "excused": missing.excused,
            "below": ids.get(id(missing.below)) if missing.below else None,
        }
        for missing in grown.missing
    ]
    gaps.extend(
        {"template": error.template, "reason": str(error), "excused": False}
        for error in context.errors.values()
    )
    return CodePath(
        name=name,
        title=path.title,
        context=_context(path, context),
        steps=steps,
        gaps=gaps,
        complete=all(gap["excused"] for gap in gaps),
        question=path.question or None,
        words=path.words,
        flags=sorted(
            {flag for step in steps for guard in step.guards for flag in guard.flags} | set(path.flags)
        ),
    )


def _context(path: Path, context: Context) -> dict[str, Value]:
    return {
        "algorithm": path.algorithm,
        "architecture": context.architecture,
        "device": path.device,
        "overlap": context.overlap,
        "bindings": {
            name: {
                "class": binding.cls.qualname,
                "at": [f"{where}:{line}" for where, line in binding.witnesses],
            }
            for name, binding in sorted(context.bindings.items())
        },
        "order": "preorder by call line: the order of launch, not of completion",
    }


def _step(context: Context, branch: Branch, depth: int, ids: dict[int, str], taken: dict[str, int]) -> Step:
    function, edge = branch.node.function, branch.edge
    anchors = [anchor for point in branch.points for anchor in point.anchor]
    shown = branch.node.shown_class
    stem = branch.points[0].id if branch.points else function.qualname
    taken[stem] = taken.get(stem, 0) + 1
    step = Step(
        id=stem if taken[stem] == 1 else f"{stem}-{taken[stem]}",
        function=_shown_name(function, shown),
        at=location(function),
        depth=depth,
        parent=ids.get(id(branch.parent)) if branch.parent else None,
        waypoint=branch.points[0].id if branch.points else None,
        points=[point.id for point in branch.points],
        phase=branch.phase or None,
        class_name=shown.qualname if shown else None,
        class_at=class_location(shown) if shown else None,
        anchors=[
            Location(function.module.path, line, None, anchor)
            for line, anchor in anchor_lines(function, anchors)
        ],
        state=effects(function, context.tree.plan),
        unconnected=branch.unconnected,
    )
    if edge is not None:
        source = edge.source.function
        step.call_at = Location(
            source.module.path,
            edge.line,
            edge.end_line if edge.end_line != edge.line else None,
            source.qualname,
        )
        step.kind, step.how, step.certainty = edge.kind, edge.how, edge.certainty
        step.guards = conditions(context, source, edge.guard)
        step.witnesses = _witnesses(context, edge)
        step.alternatives = [
            {
                "function": _shown_name(other.target.function, other.target.shown_class),
                "at": f"{other.target.function.module.path}:{other.target.function.scope.line}",
                "how": other.how,
            }
            for other in branch.alternatives
        ]
    return step


def _shown_name(function: Function, cls: Class | None) -> str:
    """``Class.method`` with the class of ``self``, not the one that defines it, when they differ."""
    if cls is None or function.cls is None or function.outer is not None or cls is function.cls:
        return function.qualname
    return f"{cls.qualname}.{function.name}"


def _witnesses(context: Context, edge: Edge) -> list[Location]:
    """Return the lines that gave the receiver's class: a store, or a binding's witnesses and wiring."""
    found: list[Location] = []
    if edge.how.startswith(("binding:", "template:")):
        binding = context.bindings.get(edge.how.split(":", 1)[1])
        if binding is not None:
            found.extend(Location(path, line) for path, line in _wiring(context, binding.id))
            found.extend(Location(path, line) for path, line in binding.witnesses)
    elif edge.witness is not None and edge.witness.at is not None and edge.witness.at[1] > 0:
        found.append(Location(*edge.witness.at))
    return list(dict.fromkeys(found))


def _wiring(context: Context, binding: str) -> list[tuple[str, int]]:
    """Return where the factory of a binding is called, with the function that calls it."""
    template = context.tree.plan.template[binding]
    factory = template.get("factory")
    if not factory:
        return []
    owners = {rule["class"] for rule in template.get("on", []) if "class" in rule}
    found: list[tuple[str, int]] = []
    for name in sorted(owners):
        for cls in context.tree.symbols.classes_by_name.get(name, ()):
            for methods in cls.methods.values():
                for method in methods:
                    lines = [
                        c.line
                        for c in method.scope.calls
                        if glob(c.callee, f"*.{factory} | *.create_draft_worker")
                    ]
                    if lines:
                        found.append((method.module.path, method.scope.line))
                        found.extend((method.module.path, line) for line in lines)
    return found
