"""Way-points to a tree of calls: each point's cheapest chain, united with the others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from indexer.extract.code_paths.context import Context
from indexer.extract.code_paths.matching import glob
from indexer.extract.code_paths.plan import Path, Point, Role, split
from indexer.extract.code_paths.search import Limits, find
from indexer.syntax.callgraph.assumptions import Assumptions
from indexer.syntax.callgraph.edges import Edge, Node
from indexer.syntax.callgraph.symbols import Function


class Branch(msgspec.Struct, eq=False):
    """A function on the path, with the edge that leads to it and the points it stands for."""

    node: Node
    edge: Edge | None
    parent: Branch | None
    points: list[Point] = []
    children: list[Branch] = []
    unconnected: bool = False
    phase: str = ""
    alternatives: list[Edge] = []

    def walk(self, depth: int = 0) -> Iterator[tuple[Branch, int]]:
        """Yield the branch and all below it in order of call lines, with depths."""
        yield self, depth
        for child in sorted(
            self.children, key=lambda c: (c.edge.line, c.edge.start_line) if c.edge else (0, 0)
        ):
            yield from child.walk(depth + 1)


class Missing(msgspec.Struct):
    """A point that was not found, where it was looked for, and why that may be right."""

    point: Point
    below: Branch | None
    reason: str
    excused: bool


class Grown(msgspec.Struct):
    """The result for one path: root branches in order, points by id, what is missing."""

    roots: list[Branch]
    found: dict[str, Branch]
    missing: list[Missing]


def grow(context: Context, path: Path) -> Grown:
    """Find all points of a path and unite their chains."""
    return _Growth(context, path).run()


class _Growth:
    def __init__(self, context: Context, path: Path) -> None:
        self.context = context
        self.path = path
        self.result = Grown([], {}, [])
        self.assumed: dict[str, Assumptions] = {}

    def run(self) -> Grown:
        for point in self.path.point:
            if point.start is not None or point.root is not None:
                self._root(point)
            else:
                self._below(point)
        return self.result

    def _assumptions(self, point: Point, base: Assumptions) -> Assumptions:
        return self.context.mode(point.assume, base) if point.assume else base

    def _root(self, point: Point) -> None:
        role = point.start or point.root
        assert role is not None
        matched: list[Node] = []
        bound = self.context.bindings.get(role.on)
        for function in self.context.candidates(role):
            if bound is not None and function not in bound.cls.find(function.name):
                continue
            node = Node(function, self._root_context(function, role.on))
            if self.context.matcher.plays(role, node, None):
                matched.append(node)
        preferred = [
            n for n in matched if point.prefer and glob(n.function.name, self._preferred(point.prefer))
        ]
        for node in (preferred or matched)[: None if point.all else 1]:
            branch = Branch(node, None, None)
            self.assumed.setdefault(point.id, self._assumptions(point, self.context.assumptions))
            branch.points.append(point)
            branch.phase = point.phase
            branch.unconnected = point.root is not None
            self.result.roots.append(branch)
            self.result.found.setdefault(point.id, branch)
        if not matched:
            self._miss(point, None)

    def _root_context(self, function: Function, binding: str) -> tuple | None:
        cls = function.cls
        bound = self.context.bindings.get(binding)
        if cls is not None and bound is not None and bound.cls.is_below(cls):
            return (bound.cls, True)
        if cls is None:
            return None
        # a mixin's method is met on the class that mixes it in, where there is only one
        users = [c for c in cls.descendants if not self.context.outside(c.module.path)]
        if "Mixin" in cls.scope.name and users:
            return (users[0], False)
        return (cls, False)

    def _preferred(self, prefer: str) -> str:
        """Return a name pattern: ``overlap: a, else b`` and ``default: field`` depend on the release."""
        if prefer.startswith("overlap:"):
            on, _, off = prefer.removeprefix("overlap:").partition(", else ")
            return on.strip() if self.context.overlap else off.strip()
        if prefer.startswith("default:"):
            value = str(self.context.tree.field_values.get(prefer.removeprefix("default:").strip(), ""))
            return f"*{value}* | *{value.capitalize()}*"
        return prefer

    def _below(self, point: Point) -> None:
        known = [name for name in split(point.of) if name in self.result.found]
        if not known or point.is_ is None:
            self._miss(point, None)
            return
        role = point.is_
        for name in known:
            parent = self.result.found[name]
            self.assumed[point.id] = self._assumptions(point, self.assumed[name])
            if point.here and self.context.matcher.plays(role, parent.node, parent.edge):
                parent.points.append(point)
                self.result.found[point.id] = parent
                return
            # the mode changes somewhere between the two points: before the call, or inside the function above
            chain = self._chain(point, role, parent, self.assumed[name])
            if chain is None and point.assume:
                chain = self._chain(point, role, parent, self.assumed[point.id])
            if chain is not None:
                branch = self._attach(parent, chain, point)
                self.result.found[point.id] = branch
                return
        self._miss(point, self.result.found[known[0]])

    def _chain(self, point: Point, role: Role, parent: Branch, assumptions: Assumptions) -> list[Edge] | None:
        """Return the chain to the point: over a preferred class where there is one, else over any."""
        wanted = [role]
        if point.prefer:
            wanted.insert(0, msgspec.structs.replace(role, class_=self._preferred(point.prefer)))
        for one in wanted:
            chain = find(
                self.context.edges,
                parent.node,
                partial(self.context.matcher.plays, one),
                assumptions,
                self._defaults(assumptions),
                self.context.outside,
                self._order(point, parent),
                Limits(),
            )
            if chain is not None:
                return chain
        return None

    def _defaults(self, assumptions: Assumptions) -> Assumptions:
        defaults = self.context.defaults
        names = {**defaults.names, **assumptions.names}
        return Assumptions(names, defaults.tables, assumptions.members, defaults.values)

    def _order(self, point: Point, parent: Branch):
        """Keep the first call of the chain before or after another point's call in the same function."""
        limit_before = self._line_below(parent, point.before)
        limit_after = self._line_below(parent, point.after)
        if limit_before is None and limit_after is None:
            return None
        return lambda edge: (
            (limit_before is None or edge.line < limit_before)
            and (limit_after is None or edge.line > limit_after)
        )

    def _line_below(self, parent: Branch, name: str) -> int | None:
        branch = self.result.found.get(name)
        while branch is not None and branch.parent is not None and branch.parent is not parent:
            branch = branch.parent
        if branch is None or branch.parent is not parent or branch.edge is None:
            return None
        return branch.edge.line

    def _attach(self, parent: Branch, chain: list[Edge], point: Point) -> Branch:
        at = parent
        for edge in chain:
            known = next(
                (
                    child
                    for child in at.children
                    if child.edge is not None
                    and child.edge.line == edge.line
                    and child.node.function is edge.target.function
                ),
                None,
            )
            if known is None:
                known = Branch(edge.target, edge, at)
                known.phase = at.phase
                at.children.append(known)
            at = known
        at.points.append(point)
        at.phase = point.phase or at.phase
        if point.alternatives:
            at.alternatives = self._alternatives(chain[-1])
        return at

    def _alternatives(self, edge: Edge) -> list[Edge]:
        """Return the other targets of the same call site."""
        return [
            other
            for other in self.context.edges.of(edge.source)
            if other.line == edge.line and other.text == edge.text and other.target != edge.target
        ]

    def _miss(self, point: Point, below: Branch | None) -> None:
        excused, reason = False, "no call that could be followed leads to one"
        above = self._lost(point) if below is None else []
        if above:
            excused = point.absent is not None or bool(point.optional)
            reason = f"not looked for: nothing was found for {' or '.join(above)}, above it"
        elif point.absent is not None:
            role = point.absent
            held = any(
                self.context.matcher.plays(role, Node(f, (f.cls, False) if f.cls else None), None)
                for f in self.context.candidates(role)
            )
            excused = not held
            reason = "nothing in this tree does it" if excused else "the tree has it, but no call leads there"
        elif point.optional:
            excused, reason = True, point.optional
        self.result.missing.append(Missing(point, below, reason, excused))

    def _lost(self, point: Point) -> list[str]:
        """Return the points that this one is looked for below, if one of them is missing without excuse."""
        above = [one for one in self.result.missing if one.point.id in split(point.of)]
        return [one.point.id for one in above] if any(not one.excused for one in above) else []
