"""A stand-in for the object that sizes the pools: its class is the release's, its attributes are facts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from indexer.explain.start.outside import Resolved
from indexer.interpret.external import ExternalBase
from indexer.interpret.modules import Program
from indexer.interpret.program import ARGUMENTS
from indexer.interpret.unknown import Unknown
from indexer.knowledge.schema import Location
from indexer.source.tree import SourceTree

_RUNNER = "sglang.srt.model_executor.model_runner"
_CONTEXT = "sglang.srt.runtime_context"
_PREDICATES = "sglang.srt.configs.hybrid_arch"
_ALGORITHMS = "sglang.srt.speculative.spec_info"
_HYBRID = re.compile(r"^(mambaish|hybrid_\w+)_config$")
_ROLE = "scheduler"


class Pools:
    """The stand-in, the function that sizes the state, and the configuration both read."""

    def __init__(self, program: Program, holder: Any, sizing: Callable[[float], float]) -> None:
        self.program = program
        self.holder = holder
        self.sizing = sizing
        self.record: Any = None
        self._context = publishing_module(program)

    def publish(self, record: Any) -> None:
        """Make a resolved record the process's configuration, as its start does."""
        self.record = record
        self.holder.server_args = record
        publish(self.program, record)

    def field(self, name: str) -> Any:
        """Return a field's value as the sizing left it."""
        if self._context is not None and self._context._rt_state.offers("get_context"):
            bags = self._context.get_context()
            for bag in ("get_schedule", "get_spec"):
                found = getattr(getattr(self._context, bag)(), name, None) if bags is not None else None
                if found is not None:
                    return found
        return getattr(self.record, name)

    @contextmanager
    def fields(self, **values: Any) -> Iterator[None]:
        """Set fields for a while: in the published configuration where there is one, else in the record."""
        if self._context is not None:
            self._context.get_context().override("report", **values)
            try:
                yield
            finally:
                self.publish(self.record)
            return
        before = {name: getattr(self.record, name) for name in values}
        self._set(values)
        try:
            yield
        finally:
            self._set(before)

    def _set(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self.record, name, value)

    def left_of(self, rest_gib: float) -> float:
        """Run the release's sizing: return the GiB left for the KV cache."""
        left = self.sizing(rest_gib)
        if type(left) is Unknown:
            raise LookupError(f"{left!r}")
        return left

    def state_config(self) -> Any:
        """Return the configuration with recurrent state, None where the model has none."""
        return self.holder.mambaish_config


def publishing_module(program: Program) -> Any:
    """Return the module that publishes the configuration, None where the release has none."""
    if program.find(_CONTEXT) is None:
        return None
    module = program.import_module(_CONTEXT)
    return module if module._rt_state.offers("publish") else None


def publish(program: Program, record: Any) -> None:
    """Make a resolved record the process's configuration, as the start of a server does."""
    context = publishing_module(program)
    arguments = program.import_module(ARGUMENTS)
    if context is not None:
        if context._rt_state.offers("SpawnRanks"):  # it wants to be told where the process stands
            context.publish(record, role=_ROLE, ranks=context.SpawnRanks(world_rank=0, gpu_id=0))
        else:
            context.publish(record, role=_ROLE)
    elif arguments._rt_state.offers("set_global_server_args_for_scheduler"):
        arguments.set_global_server_args_for_scheduler(record)


def find_pools(opened: Resolved, sizing: tuple[str, str]) -> Pools:
    """Return the stand-in for a launch.

    Raises:
        LookupError: the class that sizes the pools isn't found.
    """
    path, name = sizing
    program = opened.program
    module = program.import_module(path.removeprefix("python/").removesuffix(".py").replace("/", "."))
    owner = next(
        (
            found
            for one in module._rt_state.compiled.binders
            if isinstance(found := getattr(module, one, None), type) and name in vars(found)
        ),
        None,
    )
    if owner is None:
        raise LookupError(f"the class of {name}")
    if owner.__name__.endswith("Mixin"):
        owner = program.import_module(_RUNNER).ModelRunner
    holder = object.__new__(owner)
    _fill(holder, server_facts(opened))
    return Pools(program, holder, getattr(holder, name))


class Unmade(ExternalBase):
    """An object of a running server of which some attributes are known; all others are unknown."""

    _rt_partly = True

    def __init__(self, **known: Any) -> None:
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        return unknown_attribute(name)


def request_pool(opened: Resolved) -> Any:
    """Return a stand-in for the pool of requests: of its recurrent state the shapes of a slot are known."""
    if opened.program.find(_PREDICATES) is None:
        return Unmade()
    state = getattr(opened.program.import_module(_PREDICATES), "mambaish_config", lambda config: None)
    params: Any = getattr(state(opened.config), "mamba2_cache_params", None)
    shapes = getattr(getattr(params, "shape", None), "conv", None)
    if not isinstance(shapes, (list, tuple)) or not shapes or opened.values.get("device") != "cuda":
        return Unmade()
    each = shapes if isinstance(shapes[0], (list, tuple)) else [shapes]
    slots = Unknown("slots of the running server")
    conv = [Unmade(shape=(len(params.layers), slots, *shape)) for shape in each]
    return Unmade(mamba_pool=Unmade(mamba_cache=Unmade(conv=conv)))


def unknown_attribute(name: str) -> Unknown:
    """Return what an attribute is that only the running server has.

    Raises:
        AttributeError: it is one of Python's own.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    return Unknown(f"{name} of the running server")


def runner_of(opened: Resolved, **more: Any) -> Any:
    """Return a stand-in for the target's model runner.

    Up to the release that has predicates of its own module, the runner's class has them as properties.
    """
    known = server_facts(opened) | more
    if opened.program.find(_PREDICATES) is not None:
        return Unmade(**known)
    owner = opened.program.import_module(_RUNNER).ModelRunner
    partly = type(owner)(owner.__name__, (owner,), {"_rt_partly": True, "__getattr__": _unknown_of})
    runner = object.__new__(partly)
    _fill(runner, known)
    return runner


def _unknown_of(_: Any, name: str) -> Unknown:
    return unknown_attribute(name)


def server_facts(opened: Resolved) -> dict[str, Any]:
    """Return what is known of a target's model runner, by the names that releases give its attributes."""
    program, values = opened.program, opened.values
    algorithm = program.import_module(_ALGORITHMS).SpeculativeAlgorithm
    known = vars(opened.sizes) | {
        "ps": opened.sizes, "server_args": opened.record, "model_config": opened.config,
        "is_draft_worker": False, "device": values.get("device"), "gpu_id": 0,
        "spec_algorithm": algorithm.from_string(values.get("speculative_algorithm")),
    }  # fmt: skip
    for role in ("prefill", "decode"):
        chosen = values.get(f"{role}_attention_backend") or values.get("attention_backend")
        known[f"{role}_attention_backend_str"] = chosen
    if program.find(_PREDICATES) is not None:
        predicates = program.import_module(_PREDICATES)
        for one in predicates._rt_state.compiled.binders:
            if _HYBRID.match(one):
                known[one] = getattr(predicates, one)(opened.config)
    return known


def _fill(holder: Any, known: dict[str, Any]) -> None:
    """Set what is known; a declared attribute of which nothing is known is an unknown, not a default."""
    declared = {
        name: one
        for name, one in getattr(type(holder), "__dataclass_fields__", {}).items()
        if name not in known
    }
    for name, one in declared.items():
        if one.default is not dataclasses.MISSING:
            known[name] = one.default
        else:  # a running server copies many of these from the model's configuration, under its name
            same = getattr(known["model_config"], name, None)
            known[name] = Unknown(f"{name} of the running server") if same is None else same
    for name, value in known.items():
        kept = getattr(type(holder), name, None)
        if isinstance(kept, property) or (declared and name not in type(holder).__dataclass_fields__):
            continue
        setattr(holder, name, value)


def place_of(owner: Any, name: str | None = None) -> Location:
    """Return where a function, or a class's method or property, is defined."""
    member = owner
    if name is not None:
        member = next(vars(cls)[name] for cls in owner.__mro__ if name in vars(cls))
    function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    code = function.__code__
    return Location(code.co_filename[1:], code.co_firstlineno, None, code.co_qualname)


def at_definition(tree: SourceTree, at: Location) -> Location:
    """Return a function's place without the decorators above it, which its code begins with."""
    lines = tree.text(at.path).splitlines()
    line = at.line
    while lines[line - 1].lstrip().startswith("@"):
        line += 1
    return Location(at.path, line, at.end_line, at.symbol)
