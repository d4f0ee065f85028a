"""Replacements for the standard-library functions that must not run natively."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import inspect
import itertools
import json
import typing
from collections.abc import Callable
from typing import Any

from indexer.interpret import safety
from indexer.interpret.external import External
from indexer.interpret.filesystem import HIDDEN
from indexer.interpret.runtime import is_interpreted_class, is_interpreted_function, takes_unknown
from indexer.interpret.signals import UnknownEscaped, Unsupported
from indexer.interpret.unknown import Unknown


class SealedParser(argparse.ArgumentParser):
    """``argparse.ArgumentParser`` that prints nothing, reads no files, and notes each registration."""

    _rt_world: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("fromfile_prefix_chars"):
            raise Unsupported("arguments read from files")
        kwargs.setdefault("prog", "launch_server.py")
        super().__init__(*args, **kwargs)

    def add_argument(self, *args: Any, **kwargs: Any) -> Any:
        action = super().add_argument(*args, **kwargs)
        if self._rt_world is not None:
            self._rt_world.argument_added(action)
        return action

    def add_argument_group(self, *args: Any, **kwargs: Any) -> Any:
        group = super().add_argument_group(*args, **kwargs)
        world, add = self._rt_world, group.add_argument

        def add_argument(*names: Any, **options: Any) -> Any:
            action = add(*names, **options)
            if world is not None:
                world.argument_added(action)
            return action

        group.add_argument = add_argument  # type: ignore[method-assign]
        return group

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found = super().parse_args(args, namespace)
        if self._rt_world is not None:
            self._rt_world.parsed(found)
        return found

    def _read_args_from_files(self, arg_strings: list[str]) -> list[str]:
        raise Unsupported("arguments read from files")

    def _get_formatter(self) -> argparse.HelpFormatter:
        # Nothing is printed; a given width saves asking the terminal once per argument.
        return argparse.HelpFormatter(prog=self.prog, width=80)

    def error(self, message: str) -> typing.NoReturn:
        self.exit(2, f"error: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> typing.NoReturn:
        if self._rt_world is not None and message:
            self._rt_world.parser_message = message
        raise SystemExit(status)

    def _print_message(self, message: str, file: Any = None) -> None:
        return None


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


def sealed_dataclass(cls: Any = None, /, **options: Any) -> Any:
    """``dataclasses.dataclass``, which builds source text out of field names, for proper names only."""

    def decorate(target: Any) -> Any:
        if not is_interpreted_class(target):
            raise Unsupported(f"dataclass of native {target!r}")
        for base in target.__mro__:
            _check_fields(base)
        # dataclasses looks the module of a class with string annotations up in ``sys.modules``, where
        # interpreted modules are not; so it gets to see what kind of annotation each is, no more.
        written = dict(target.__dict__.get("__annotations__", {}))
        target.__annotations__ = {name: _annotation_kind(text) for name, text in written.items()}
        made = dataclasses.dataclass(target, **options)
        made.__annotations__ = written
        for field in dataclasses.fields(made):
            if field.name in written:
                field.type = written[field.name]
        return made

    return decorate if cls is None else decorate(cls)


def _check_fields(cls: type) -> None:
    """Refuse fields whose names could become more than a name in the text that dataclasses compiles."""
    fields = cls.__dict__.get("__dataclass_fields__", {})
    annotations = cls.__dict__.get("__annotations__", {})
    if is_interpreted_class(type(cls)) or type(fields) is not dict or type(annotations) is not dict:
        raise Unsupported(f"a dataclass of {cls.__name__}, which makes up its fields")
    names = [*annotations, *fields, *(getattr(field, "name", None) for field in fields.values())]
    for name in names:
        if type(name) is not str or not name.isidentifier():
            raise Unsupported(f"a dataclass field named {name!r}")


def _annotation_kind(annotation: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    name = annotation.partition("[")[0].rpartition(".")[2].strip()
    kinds: dict[str, Any] = {
        "ClassVar": typing.ClassVar,
        "InitVar": dataclasses.InitVar,
        "KW_ONLY": dataclasses.KW_ONLY,
    }
    return kinds.get(name, Any)


def type_hints(program: Any) -> Callable[..., dict[str, Any]]:
    """Return ``typing.get_type_hints`` that evaluates string annotations in the interpreted module."""

    def get_type_hints(
        target: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False
    ) -> dict[str, Any]:
        if not isinstance(target, type):
            raise Unsupported(f"type hints of {target!r}")
        hints: dict[str, Any] = {}
        for base in reversed(target.__mro__):
            for name, annotation in base.__dict__.get("__annotations__", {}).items():
                hints[name] = evaluate_annotation(program, base, annotation)
        if not include_extras:
            hints = {name: _without_extras(hint) for name, hint in hints.items()}
        return hints

    return get_type_hints


def evaluate_annotation(program: Any, owner: type, annotation: Any) -> Any:
    """Return the value of one annotation of a class."""
    if annotation is None:
        return type(None)
    if not isinstance(annotation, str):
        return annotation
    module = program.state_of(owner)
    if module is None:
        raise Unsupported(f"annotation {annotation!r} of {owner.__name__}")
    return program.annotation(module, annotation, dict(vars(owner)))


def _without_extras(hint: Any) -> Any:
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return hint


def struct_fields(program: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return ``msgspec.structs.fields`` that evaluates annotations in the interpreted module."""
    import msgspec

    known: dict[type, tuple[Any, ...]] = {}

    def fields(type_or_instance: Any) -> tuple[Any, ...]:
        cls: Any = type_or_instance if isinstance(type_or_instance, type) else type(type_or_instance)
        if cls in known:
            return known[cls]
        annotations: dict[str, tuple[type, Any]] = {}
        for base in reversed(cls.__mro__):
            for name, annotation in base.__dict__.get("__annotations__", {}).items():
                annotations[name] = (base, annotation)
        names = cls.__struct_fields__
        defaults = cls.__struct_defaults__
        required = len(names) - len(defaults)
        found = []
        for index, (name, encoded) in enumerate(zip(names, cls.__struct_encode_fields__, strict=True)):
            default: Any = msgspec.NODEFAULT
            factory: Any = msgspec.NODEFAULT
            if index >= required:
                value = defaults[index - required]
                if type(value).__name__ == "Factory":
                    factory = value.factory
                elif value is not msgspec.NODEFAULT:
                    default = value
            owner, annotation = annotations[name]
            hint = evaluate_annotation(program, owner, annotation)
            found.append(
                msgspec.structs.FieldInfo(
                    name=name, encode_name=encoded, type=hint, default=default, default_factory=factory
                )
            )
        known[cls] = tuple(found)
        return known[cls]

    return fields


def attribute_getter(runtime: Any) -> Callable[..., Any]:
    """Return ``operator.attrgetter`` that goes through the runtime's attribute check."""

    def attrgetter(*names: str) -> Callable[[Any], Any]:
        def one(value: Any, name: str) -> Any:
            for part in name.split("."):
                value = runtime.get_attribute(value, part)
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
        return functools.update_wrapper(runtime.storable(wrapper), wrapped, names, updated if own else ())

    return update_wrapper


def wrapping(update_wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``functools.wraps`` on such an ``update_wrapper``."""

    def wraps(wrapped: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        return takes_unknown(lambda wrapper: update_wrapper(wrapper, wrapped, *args, **kwargs))

    return wraps


def signature(function: Any, *, follow_wrapped: bool = True, **options: Any) -> Any:
    """``inspect.signature`` that evaluates no annotations."""
    if options:
        raise Unsupported("inspect.signature() that evaluates annotations")
    return inspect.signature(function, follow_wrapped=follow_wrapped)


def convert(value: Any, type: Any, **options: Any) -> Any:
    """``msgspec.convert`` to plain types: for others it evaluates annotations as Python text."""
    import msgspec

    if type not in (str, int, float, bool, bytes, list, dict, tuple, set):
        raise Unsupported("msgspec.convert() to a class")
    return msgspec.convert(value, type, **options)


def decode(text: Any, **options: Any) -> Any:
    """``msgspec.json.decode`` without a type: with one, it evaluates annotations as Python text."""
    import msgspec

    if options:
        raise Unsupported("msgspec.json.decode() to a class")
    return msgspec.json.decode(text)


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
    return {
        "argparse": {"ArgumentParser": parser},
        "copy": {"deepcopy": takes_unknown(deep_copy), "copy": takes_unknown(_shallow_copy)},
        "dataclasses": {
            "dataclass": sealed_dataclass,
            "replace": takes_unknown(dataclasses.replace),
            "asdict": takes_unknown(dataclasses.asdict),
            "fields": dataclasses.fields,
            "is_dataclass": takes_unknown(_is_dataclass),
        },
        "functools": {name: takes_unknown(function) for name, function in cached.items()}
        | {
            "reduce": functools.reduce,
            "update_wrapper": takes_unknown(update_wrapper),
            "wraps": takes_unknown(wrapping(update_wrapper)),
        },
        "inspect": {"signature": signature},
        "itertools": endless(runtime),
        "json": {
            "load": lambda file, **options: load_json(file.read(), **options),
            "loads": takes_unknown(load_json),
        },
        "operator": {
            "attrgetter": attribute_getter(runtime),
            **dict.fromkeys(("mul", "imul"), safety.multiply),
            **dict.fromkeys(("pow", "ipow"), safety.power),
            **dict.fromkeys(("lshift", "ilshift"), safety.shift_left),
        },
        "typing": {"get_type_hints": type_hints(program), "TYPE_CHECKING": False},
        "types": {"ModuleType": _ModuleKind, "FunctionType": _FunctionKind, "LambdaType": _FunctionKind},
        "msgspec": {"convert": convert},
        "msgspec.json": {"decode": decode},
        "msgspec.structs": {"fields": struct_fields(program)},
    }


def _is_dataclass(value: Any) -> Any:
    if type(value) is Unknown:
        if value._rt_kind is not None:
            return dataclasses.is_dataclass(value._rt_kind)
        return value._rt_derive("is_dataclass")
    return dataclasses.is_dataclass(value)


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
    return _unhide(value) if HIDDEN[1:] in str(text) else value


def _unhide(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(HIDDEN):
        key = value.removeprefix(HIDDEN)
        return Unknown(f"{key} of config.json", (f"config.json: {key}",))
    if isinstance(value, dict):
        return {name: _unhide(item) for name, item in value.items()}
    return [_unhide(item) for item in value] if isinstance(value, list) else value


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
