"""``huggingface_hub.dataclasses``: what its decorators make of transformers' configuration classes.

A configuration class that is ``strict`` checks itself once it is made: every method ``validate_…`` is run,
in the order of their names, and may refuse the checkpoint or warn. A value of another type than its field's
plain one is refused; where releases of ``huggingface_hub`` differ, or the type is not plain, it leaves the
outcome open.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from indexer.interpret.marks import is_interpreted_class, takes_unknown
from indexer.interpret.safety import check_storable
from indexer.interpret.signals import Unsupported
from indexer.interpret.unknown import Unknown, is_about_unknown

_VALIDATOR = "validate_"


class StrictDataclassClassValidationError(Exception):
    """What ``huggingface_hub`` raises where a class's own check fails, with its message."""

    def __init__(self, validator: str, cause: Exception) -> None:
        super().__init__(
            f"Class validation error for validator '{validator}':\n    {type(cause).__name__}: {cause}"
        )


class StrictDataclassFieldValidationError(Exception):
    """What ``huggingface_hub`` raises where a value is not of its field's type, with its message."""

    def __init__(self, field: str, expected: type, value: Any) -> None:
        super().__init__(
            f"Validation error for field '{field}':\n    TypeError: Field '{field}' expected "
            f"{expected.__name__}, got {type(value).__name__} (value: {value!r})"
        )


def validated_field(validator: Any) -> Callable[..., Any]:
    """``huggingface_hub.dataclasses.as_validated_field`` without the check itself."""

    def make(**options: Any) -> Any:
        known = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
        return dataclasses.field(**{name: value for name, value in options.items() if name in known})

    return takes_unknown(make)


def strict(cls: Any = None, /, *, accept_kwargs: bool = False) -> Any:
    """``huggingface_hub.dataclasses.strict``.

    With ``accept_kwargs`` a class takes keywords beyond its fields and hands them to
    ``__post_init__``.

    Raises:
        Unsupported: the class is not one of the tree.
    """

    def decorate(target: Any) -> Any:
        if not is_interpreted_class(target):
            raise Unsupported(f"strict() of {target!r}")
        if accept_kwargs:
            target.__init__ = takes_unknown(_accepting(target))
        target.validate = takes_unknown(_validation(target))
        target.__init__ = takes_unknown(_validated(target, target.__init__))
        return target

    return decorate if cls is None else decorate(cls)


def _accepting(target: Any) -> Callable[..., None]:
    """Return an ``__init__`` that hands keywords that are no fields to ``__post_init__``."""

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        fields = {field.name: field for field in dataclasses.fields(target)}
        for name, field in fields.items():
            if name in kwargs:
                setattr(self, name, kwargs[name])
            elif field.default is not dataclasses.MISSING:
                setattr(self, name, field.default)
            elif field.default_factory is not dataclasses.MISSING:
                setattr(self, name, field.default_factory())
            else:
                raise TypeError(f"Missing required field - '{name}'")
        post = getattr(self, "__post_init__", None)
        rest = {name: value for name, value in kwargs.items() if name not in fields}
        if post is not None:
            post(**rest)

    return initialise


def _validation(target: Any) -> Callable[[Any], None]:
    """Return the method that runs a class's checks.

    Raises:
        Unsupported: a check takes more than the object.
    """
    checks = [
        check
        for name in dir(target)
        if name.startswith(_VALIDATOR) and callable(check := getattr(target, name, None))
    ]
    for check in checks:
        if len(inspect.signature(check).parameters) != 1:
            raise Unsupported(f"{check.__qualname__}() of a strict class takes more than the object")

    def validate(self: Any) -> None:
        for check in checks:
            try:
                check(self)
            except (ValueError, TypeError) as error:
                if is_about_unknown(error):
                    raise
                raise StrictDataclassClassValidationError(check.__name__, error) from error

    return validate


def _validated(target: Any, initial: Any) -> Callable[..., None]:
    declared = {field.name: field.type for field in dataclasses.fields(target)}

    @functools.wraps(initial, assigned=("__name__", "__qualname__", "__doc__"))
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        check_storable(self)
        for name, kind in declared.items():
            if name in kwargs:
                _check_type(target, name, kind, kwargs[name])
        initial(self, *args, **kwargs)
        target.validate(self)

    return initialise


def _check_type(target: Any, name: str, kind: Any, value: Any) -> None:
    """Refuse a value that is not of its field's type, as every release of ``huggingface_hub`` does.

    Raises:
        StrictDataclassFieldValidationError: it is not of a plain type.
        Unsupported: the type is made of several, or it is a bool for a whole number.
    """
    if (kind is int and type(value) is bool) or _fits(value, kind) is False:
        if kind in _PLAIN and type(value) in _PLAIN and type(value) is not bool:
            raise StrictDataclassFieldValidationError(name, kind, value)
        raise Unsupported(
            f"config.json: {name} is {type(value).__name__}, and {target.__name__} declares {_named(kind)}: "
            "huggingface_hub may refuse it"
        )


def _named(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind)


_PLAIN = (int, float, str, bool, list, dict, tuple, set, type(None))


def _fits(value: Any, kind: Any) -> bool | None:
    """Tell whether a value is of a type that is made of plain ones; None where that isn't known."""
    if type(value) is Unknown:
        return None
    if kind is Any:
        return True
    if isinstance(kind, type) and kind in _PLAIN:
        return isinstance(value, kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _joined([_fits(value, one) for one in arguments], any)
    if origin is list and isinstance(value, list):
        return _joined([_fits(item, arguments[0]) for item in value], all)
    return False if origin in _PLAIN and not isinstance(value, origin) else None


def _joined(found: list[bool | None], join: Callable[[list[bool]], bool]) -> bool | None:
    """Return what ``any`` or ``all`` of several answers says, if those that are known decide it."""
    known = [one for one in found if one is not None]
    said = join(known)
    return said if len(known) == len(found) or said is (join is any) else None
