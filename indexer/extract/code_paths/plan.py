"""``queries/paths.toml`` as records."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import msgspec

from indexer._resources import data_path
from indexer.errors import CannotError


class Role(msgspec.Struct, forbid_unknown_fields=True, rename={"class_": "class", "not_": "not"}):
    """What a function is or does. Every given key must hold; lists hold when all of them do.

    Patterns are shell globs with ``|`` between alternatives. ``depth`` allows the effects
    (calls, writes, reads, passes) to sit in a function called directly, that many levels down.
    """

    name: str = ""
    class_: str = ""
    module: str = ""
    on: str = ""
    called_as: str = ""
    called_with: str = ""
    calls: list[str] = []
    passes: list[str] = []
    writes: list[str] = []
    reads: list[str] = []
    returns: list[str] = []
    parameters: list[str] = []
    mentions: list[str] = []
    decorated: str = ""
    constructor: bool = False
    not_: Role | None = None
    any: list[Role] = []
    depth: int = 0


class Point(msgspec.Struct, forbid_unknown_fields=True, rename={"is_": "is"}):
    """A way-point. ``of`` names the points it is looked for below (first one that exists).

    ``root`` finds a function by role instead of by reachability. ``absent`` is the query that must
    find nothing for the point to be rightly missing; ``optional`` says why it may be missing. ``here``
    allows the point above to play it too. ``before`` and ``after`` order call sites in one function.
    """

    id: str
    of: str = ""
    is_: Role | None = None
    start: Role | None = None
    root: Role | None = None
    prefer: str = ""
    before: str = ""
    after: str = ""
    assume: str = ""
    anchor: list[str] = []
    phase: str = ""
    absent: Role | None = None
    optional: str = ""
    all: bool = False
    here: bool = False
    alternatives: bool = False
    title: str = ""


class Path(msgspec.Struct, forbid_unknown_fields=True):
    """One named path: a question, the assumptions it is asked under, and its way-points.

    ``extends`` takes over another path's points but for those in ``drop``; ``compare`` adds the findings
    that come from comparing siblings across the whole tree. ``layer_parameter`` is the constructor's
    parameter by which a draft class is told which of several layers it is. ``chosen`` says of a template
    which witness counts (``path:line``), where whoever asks knows it.
    """

    title: str
    question: str = ""
    algorithm: str = "EAGLE"
    architectures: list[str] = []
    device: str = "cuda"
    bind: list[str] = []
    names: dict[str, bool] = {}
    extends: str = ""
    compare: bool = False
    drop: list[str] = []
    point: list[Point] = []
    needs: Role | None = None
    words: list[str] = []
    flags: list[str] = []
    layer_parameter: str = ""
    chosen: dict[str, str] = {}


class Plan(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    path: dict[str, Path]
    mode: dict[str, dict[str, Any]] = {}
    device: dict[str, dict[str, Any]] = {}
    template: dict[str, dict[str, Any]] = {}
    hybrid: dict[str, dict[str, Any]] = {}
    overlap: dict[str, Any] = {}
    state: dict[str, list[str]] = {}


class Hybrid(msgspec.Struct, frozen=True):
    """A hybrid architecture: the predicate that is true of its configuration, the ``others`` by which the
    release tells hybrids of other kinds, and the place (``path:line``) where its linear-attention backend
    is made."""

    architecture: str
    predicate: str
    others: tuple[str, ...]
    backend_at: str


def variant(
    plan: Plan, name: str, algorithm: str | None = None, model: Hybrid | None = None
) -> tuple[str, Path]:
    """Return the path that asks a path's question of another algorithm or model, and its name.

    A question that the plan asks of some algorithms in words of their own (other way-points) is taken as it
    stands there. Siblings across the tree are compared for the plan's own paths only.
    """
    path = plan.path[name]
    base = path.extends or name
    if algorithm is not None and algorithm != path.algorithm:
        own = {one.algorithm: key for key, one in plan.path.items() if one.extends == base}
        own[plan.path[base].algorithm] = base
        if own.get(path.algorithm) == name or path.layer_parameter:  # those that differ in how they draft
            name = own.get(algorithm, name)
        path = msgspec.structs.replace(plan.path[name], algorithm=algorithm)
    if model is not None:
        path = msgspec.structs.replace(
            path,
            architectures=[model.architecture],
            names={**path.names, **dict.fromkeys(model.others, False), model.predicate: True},
            chosen={_BACKEND: model.backend_at},
        )
    return name, msgspec.structs.replace(path, compare=False)


_BACKEND = "linear-backend"


@cache
def load_plan() -> Plan:
    """Return the shipped plan.

    Raises:
        CannotError: the file is not what the records above say, with the place that is wrong.
    """
    return parse_plan(plan_bytes())


def plan_bytes() -> bytes:
    """Return the bytes of ``queries/paths.toml`` (they are part of every cache key)."""
    return (data_path("queries") / "paths.toml").read_bytes()


def parse_plan(raw: bytes) -> Plan:
    """Return the plan in ``raw``, with ``extends`` resolved."""
    try:
        plan = msgspec.convert(tomllib.loads(raw.decode()), Plan)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CannotError(f"paths.toml: {error}") from error
    for name, path in plan.path.items():
        if path.extends:
            base = plan.path.get(path.extends)
            if base is None:
                raise CannotError(f"paths.toml: path.{name}.extends: no path {path.extends!r}")
            own = {point.id: point for point in path.point}
            kept = [own.pop(p.id, p) for p in base.point if p.id not in path.drop]
            path.point = [*kept, *own.values()]
            path.bind = path.bind or base.bind
            path.architectures = path.architectures or base.architectures
            path.names = {**base.names, **path.names}
        path.point = _in_order(path.point)
        known = {point.id for point in path.point}
        for point in path.point:
            for ref in filter(None, (*split(point.of), point.before, point.after)):
                if ref not in known:
                    raise CannotError(f"paths.toml: path.{name}.point.{point.id}: no point {ref!r}")
    return plan


def _in_order(points: list[Point]) -> list[Point]:
    """Put every point after those it refers to; otherwise the order stays."""
    ordered: list[Point] = []
    waiting = list(points)
    while waiting:
        open_ids = {point.id for point in waiting}
        ready = next(
            (p for p in waiting if not open_ids & {*split(p.of), p.before, p.after} - {p.id}), waiting[0]
        )
        waiting.remove(ready)
        ordered.append(ready)
    return ordered


def split(text: str) -> list[str]:
    """Return the alternatives in ``a | b``."""
    return [part.strip() for part in text.split("|") if part.strip()]
