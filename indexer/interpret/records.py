"""Classes that declare fields: ``dataclasses``, the hints of ``typing``, and ``msgspec``'s Structs."""

from __future__ import annotations

import builtins
import dataclasses
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from indexer.interpret.code_cache import TreeCode
from indexer.interpret.marks import is_interpreted_class, takes_unknown
from indexer.interpret.signals import Unsupported
from indexer.interpret.unknown import Unknown


def sealed_dataclass(code: TreeCode) -> Callable[..., Any]:
    """Return ``dataclasses.dataclass``, which builds source text out of field names, for proper names only.

    ``code`` keeps what it compiles: transformers makes a hundred dataclasses on every launch.
    """

    def dataclass(cls: Any = None, /, **options: Any) -> Any:
        decorate = partial(_make_dataclass, code, options)
        return decorate if cls is None else decorate(cls)

    return takes_unknown(dataclass)


def _make_dataclass(code: TreeCode, options: dict[str, Any], target: Any) -> Any:
    if not is_interpreted_class(target):
        raise Unsupported(f"dataclass of native {target!r}")
    for base in target.__mro__:
        _check_fields(base)
    # dataclasses looks the module of a class with string annotations up in ``sys.modules``, where
    # interpreted modules are not; so it gets to see what kind of annotation each is, no more.
    written = dict(target.__dict__.get("__annotations__", {}))
    target.__annotations__ = {name: _annotation_kind(text) for name, text in written.items()}
    with _compiling_once(code):
        made = dataclasses.dataclass(target, **options)
    made.__annotations__ = written
    for field in dataclasses.fields(made):
        if field.name in written:
            field.type = written[field.name]
    return made


@contextmanager
def _compiling_once(code: TreeCode) -> Iterator[None]:
    """Let ``dataclasses`` take the code of its texts from what was compiled before.

    It passes each text to ``exec``, a name that its module's own globals can hide.
    """

    def run(text: str, scope: dict[str, Any], names: dict[str, Any]) -> None:
        builtins.exec(code.text(text), scope, names)

    names = vars(dataclasses)
    names["exec"] = run
    try:
        yield
    finally:
        names.pop("exec", None)  # a dataclass may be made while another is


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


def is_dataclass(value: Any) -> Any:
    if type(value) is Unknown:
        if value._rt_kind is not None:
            return dataclasses.is_dataclass(value._rt_kind)
        return value._rt_derive("is_dataclass")
    return dataclasses.is_dataclass(value)
