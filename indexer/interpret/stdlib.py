"""Replacements for the standard-library functions that must not run natively."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import itertools
import json
import typing
from collections.abc import Callable
from typing import Any

from indexer.interpret import safety
from indexer.interpret.external import External
from indexer.interpret.filesystem import HIDDEN, hide, unhide
from indexer.interpret.marks import is_interpreted_class, is_interpreted_function, takes_unknown
from indexer.interpret.parsers import SealedParser
from indexer.interpret.records import (
    convert,
    decode,
    is_dataclass,
    sealed_dataclass,
    struct_fields,
    type_hints,
)
from indexer.interpret.signals import UnknownEscaped, Unsupported
from indexer.interpret.unknown import Unknown, contains_unknown


def memoised(maxsize: Any = 128, typed: bool = False) -> Any:
    """``functools.lru_cache`` whose table dies with the program and that lets unknowns through."""

    def decorate(function: Any) -> Any:
        table: dict[Any, Any] = {}

        @functools.wraps(function, updated=())
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                key = (args, tuple(sorted(kwargs.items())))
                if key in table:
                    return table[key]
            except (UnknownEscaped, TypeError):
                return function(*args, **kwargs)
            value = table[key] = function(*args, **kwargs)
            return value

        wrapper.cache_clear = table.clear  # type: ignore[attr-defined]
        wrapper._rt_takes_unknown = True  # type: ignore[attr-defined]
        return wrapper

    if callable(maxsize):
        return decorate(maxsize)
    return decorate


def attribute_getter(runtime: Any) -> Callable[..., Any]:
    """Return ``operator.attrgetter`` that goes through the runtime's attribute check."""

    def attrgetter(*names: str) -> Callable[[Any], Any]:
        def one(value: Any, name: str) -> Any:
            for part in name.split("."):
                value = runtime.attributes.get(value, part)
            return value

        if len(names) == 1:
            return lambda value: one(value, names[0])
        return lambda value: tuple(one(value, name) for name in names)

    return attrgetter


def wrapper_updater(runtime: Any) -> Callable[..., Any]:
    """Return ``functools.update_wrapper`` that reads and stores what interpreted code may."""

    def update_wrapper(
        wrapper: Any,
        wrapped: Any,
        assigned: Any = functools.WRAPPER_ASSIGNMENTS,
        updated: Any = functools.WRAPPER_UPDATES,
    ) -> Any:
        if type(wrapper) in (Unknown, External) or type(wrapped) is Unknown:
            return wrapper
        names = tuple(safety.check_stored_attribute(name) for name in assigned)
        if safety.GUARDED_ATTRIBUTES.intersection(names) or tuple(updated) not in ((), ("__dict__",)):
            raise Unsupported("update_wrapper() of other than the usual attributes")
        own = is_interpreted_function(wrapped) or is_interpreted_class(wrapped)
        return functools.update_wrapper(
            runtime.attributes.storable(wrapper), wrapped, names, updated if own else ()
        )

    return update_wrapper


def wrapping(update_wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``functools.wraps`` on such an ``update_wrapper``."""

    def wraps(wrapped: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        return takes_unknown(lambda wrapper: update_wrapper(wrapper, wrapped, *args, **kwargs))

    return wraps


def changing(runtime: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a native decorator that changes what it is given, for classes and functions of the tree only."""

    @functools.wraps(function)
    def change(target: Any, *args: Any, **kwargs: Any) -> Any:
        if type(target) in (Unknown, External):
            return target
        return function(runtime.attributes.storable(target), *args, **kwargs)

    return takes_unknown(change)


def _decorators(runtime: Any) -> dict[str, dict[str, Any]]:
    """Return the native decorators that change what they are given, by module."""

    def transform(**options: Any) -> Callable[..., Any]:
        return changing(runtime, typing.dataclass_transform(**options))

    named = {
        "abc": ("abstractclassmethod", "abstractmethod", "abstractstaticmethod", "update_abstractmethods"),
        "functools": ("total_ordering",),
        "types": ("coroutine",),
        "typing": ("final", "no_type_check", "override", "runtime_checkable"),
    }
    found: dict[str, dict[str, Any]] = {"typing": {"dataclass_transform": transform}}
    for module, names in named.items():
        real = importlib.import_module(module)
        own = {name: changing(runtime, getattr(real, name)) for name in names if hasattr(real, name)}
        found.setdefault(module, {}).update(own)
    return found


def signature(function: Any, *, follow_wrapped: bool = True, **options: Any) -> Any:
    """``inspect.signature`` that evaluates no annotations."""
    if options:
        raise Unsupported("inspect.signature() that evaluates annotations")
    return inspect.signature(function, follow_wrapped=follow_wrapped)


def endless(runtime: Any) -> dict[str, Callable[..., Any]]:
    """Return the endless iterators of ``itertools``; their steps are paid from the path's budget."""

    def paid(make: Callable[..., Any]) -> Callable[..., Any]:
        def steps(*args: Any, **kwargs: Any) -> Any:
            for value in make(*args, **kwargs):
                runtime.tick()
                yield value

        return steps

    return {name: paid(getattr(itertools, name)) for name in ("count", "cycle", "repeat")}


def deep_copy(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """``copy.deepcopy`` that passes unknown and external values through."""
    import copy

    if type(value) in (Unknown, External):
        return value
    return copy.deepcopy(value, memo)


def overrides(world: Any, program: Any) -> dict[str, dict[str, Any]]:
    """Return, per module, the attributes that replace the standard library's."""
    runtime = program.runtime
    parser = type("ArgumentParser", (SealedParser,), {"_rt_world": world})
    update_wrapper = wrapper_updater(runtime)
    cached = {"lru_cache": memoised, "cache": memoised}
    changed = _decorators(runtime)
    return {
        "abc": changed["abc"],
        "argparse": {"ArgumentParser": parser},
        "copy": {"deepcopy": takes_unknown(deep_copy), "copy": takes_unknown(_shallow_copy)},
        "dataclasses": {
            "dataclass": sealed_dataclass(program.code),
            "replace": takes_unknown(dataclasses.replace),
            "asdict": takes_unknown(dataclasses.asdict),
            "fields": dataclasses.fields,
            "is_dataclass": takes_unknown(is_dataclass),
        },
        "functools": {name: takes_unknown(function) for name, function in cached.items()}
        | {
            "reduce": functools.reduce,
            "update_wrapper": takes_unknown(update_wrapper),
            "wraps": takes_unknown(wrapping(update_wrapper)),
        }
        | changed["functools"],
        "inspect": {"signature": signature},
        "itertools": endless(runtime),
        "json": {
            "dump": _dump_json,
            "load": lambda file, **options: load_json(file.read(), **options),
            "loads": takes_unknown(load_json),
        },
        "operator": {
            "attrgetter": attribute_getter(runtime),
            **dict.fromkeys(("mul", "imul"), safety.multiply),
            **dict.fromkeys(("pow", "ipow"), safety.power),
            **dict.fromkeys(("lshift", "ilshift"), safety.shift_left),
        },
        "typing": {"get_type_hints": type_hints(program), "TYPE_CHECKING": False} | changed["typing"],
        "types": {"ModuleType": _ModuleKind, "FunctionType": _FunctionKind, "LambdaType": _FunctionKind}
        | changed["types"],
        "msgspec": {"convert": convert},
        "msgspec.json": {"decode": decode},
        "msgspec.structs": {"fields": struct_fields(program)},
    }


def _shallow_copy(value: Any) -> Any:
    import copy

    return value if type(value) in (Unknown, External) else copy.copy(value)


# A flag's type is told by the name of the function: this one must bear the name of the real one.
@functools.wraps(json.loads, assigned=("__module__", "__name__", "__qualname__"))
@takes_unknown
def load_json(text: Any, **options: Any) -> Any:
    """``json.loads`` that gives unknowns for values marked as hidden."""
    if type(text) is Unknown:
        return text._rt_derive("json")
    value = json.loads(text, **options)
    return unhide(value) if HIDDEN[1:] in str(text) else value


@takes_unknown
def _dump_json(value: Any, file: Any, **options: Any) -> None:
    """``json.dump`` that keeps unknowns for the next who loads the file."""
    file.write(json.dumps(hide(value) if contains_unknown(value, depth=20) is not None else value, **options))


class _KindMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return cls._rt_test(value)  # type: ignore[attr-defined]


class _FunctionKind(metaclass=_KindMeta):
    """``types.FunctionType`` for ``isinstance`` only."""

    @staticmethod
    def _rt_test(value: Any) -> bool:
        from types import FunctionType

        return isinstance(value, FunctionType)


class _ModuleKind(metaclass=_KindMeta):
    """``types.ModuleType`` for ``isinstance`` only."""

    @staticmethod
    def _rt_test(value: Any) -> bool:
        return type(value).__name__ in ("InterpretedModule", "HostModule")
