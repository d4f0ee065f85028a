"""The cheapest chain of calls from one function to the nearest that plays a role."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import msgspec

from indexer.syntax.callgraph.assumptions import Assumptions
from indexer.syntax.callgraph.edges import Edge, Edges, Node

COSTS = {"certain": 1.0, "typed": 1.2, "selected": 1.2, "declared": 1.2, "guessed": 4.0}
HOW_COSTS = {"override": 1.8, "unique-name": 2.0, "callback": 1.6, "nested": 0.9}
OFF_DEFAULT = 2.0
"""Extra cost of a branch that the release's default configuration does not take."""
RIVAL = 0.1
"""Extra cost per other function that the same call site may reach (at most 1)."""
UNEXPLAINED = 0.02
"""Extra cost per guard that no assumption explains: the tie-break of the notes, as a small weight."""


class Limits(msgspec.Struct):
    """How far a search goes before it gives up; ``hit`` says that it did."""

    expansions: int = 3000
    cost: float = 12.0
    hit: bool = False


def find(
    edges: Edges,
    start: Node,
    accepts: Callable[[Node, Edge], bool],
    assumptions: Assumptions,
    defaults: Assumptions,
    outside: Callable[[str], bool],
    first_edges: Callable[[Edge], bool] | None = None,
    limits: Limits | None = None,
) -> list[Edge] | None:
    """Return the cheapest chain of edges from ``start`` to a node that ``accepts``, or None.

    An edge whose guard is certainly false under ``assumptions`` is not taken; ties go to fewer
    unexplained guards, then to the first call site.
    """
    limits = limits or Limits()
    queue: list[tuple[float, int, Node, tuple[Edge, ...]]] = [(0.0, 0, start, ())]
    best: dict[Node, float] = {start: 0.0}
    serial = 0
    expanded = 0
    while queue:
        cost, _, node, chain = heapq.heappop(queue)
        if chain and accepts(node, chain[-1]):
            return list(chain)
        if cost > best.get(node, cost) or cost > limits.cost:
            continue
        expanded += 1
        if expanded > limits.expansions:
            limits.hit = True
            return None
        for edge in edges.of(node):
            if not chain and first_edges is not None and not first_edges(edge):
                continue
            if not takes(edge, assumptions, outside):
                continue
            reached = cost + weigh(edge, assumptions, defaults)
            # a target may be wanted over a particular call site, so it is also tested per edge
            if reached < best.get(edge.target, 1e9) or accepts(edge.target, edge):
                best[edge.target] = min(reached, best.get(edge.target, 1e9))
                serial += 1
                heapq.heappush(queue, (reached, serial, edge.target, (*chain, edge)))
    return None


def takes(edge: Edge, assumptions: Assumptions, outside: Callable[[str], bool]) -> bool:
    """Whether an edge may be on a path at all."""
    target = edge.target.function
    if outside(target.module.path) and not outside(edge.source.function.module.path):
        return False
    shown = edge.target.shown_class
    if shown is not None and outside(shown.module.path):
        return False
    return assumptions.guard(edge.source.function.module, edge.guard) is not False


def weigh(edge: Edge, assumptions: Assumptions, defaults: Assumptions) -> float:
    """Return the cost of an edge."""
    cost = HOW_COSTS.get(edge.how, COSTS[edge.certainty])
    if edge.kind in ("callback", "nested"):
        cost = HOW_COSTS[edge.kind]
    cost += min(RIVAL * edge.rivals, 1.0)
    module = edge.source.function.module
    if defaults.guard(module, edge.guard) is False:
        cost += OFF_DEFAULT
    index = edge.guard
    while index >= 0:
        entry = module.facts.guards[index]
        if assumptions.guard(module, index) is None:
            cost += UNEXPLAINED
        index = entry.parent
    return cost
