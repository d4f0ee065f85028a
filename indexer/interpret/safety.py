"""The sandbox's edges: which native names, attributes and operations interpreted code may use."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from indexer.interpret.rewrite import FORBIDDEN_ATTRIBUTES, GUARDED_ATTRIBUTES
from indexer.interpret.signals import Unsupported

PLAIN_BUILTINS = (
    *("abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "classmethod"),
    *("complex", "dict", "dir", "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash"),
    *("hex", "int", "iter", "len", "list", "map", "max", "memoryview", "min", "next", "object", "oct", "ord"),
    *("property", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum"),
    *("super", "tuple", "type", "zip", "NotImplemented", "Ellipsis", "None", "True", "False"),
)
"""Builtins handed out as they are: they touch nothing but their arguments."""

MAX_ITEMS = 50_000_000
MAX_INTEGER_BITS = 100_000

_CLOSED_CONSTRUCTORS = (types.FunctionType, types.CodeType, types.ModuleType, types.FrameType, types.CellType)
CLOSED_NATIVE = FORBIDDEN_ATTRIBUTES | {"__get__"}
"""Names of native methods that are looked at more closely before they are called."""


def check_attribute(name: Any) -> None:
    """Refuse an attribute name that leads out of the sandbox.

    Raises:
        Unsupported: the attribute is closed to interpreted code.
    """
    if isinstance(name, str) and (name in FORBIDDEN_ATTRIBUTES or name.startswith("_rt_")):
        raise Unsupported(f"attribute {name} is closed to interpreted code")


def check_constructor(cls: type) -> None:
    """Refuse to build functions, code, modules and frames."""
    if cls in _CLOSED_CONSTRUCTORS:
        raise Unsupported(f"{cls.__name__}() is closed to interpreted code")


def check_native(function: Any) -> None:
    """Refuse native methods that would hand out what the attribute check refuses."""
    name = getattr(function, "__name__", "")
    if name in FORBIDDEN_ATTRIBUTES:
        raise Unsupported(f"{name}() is closed to interpreted code")
    if name == "__get__":
        owner = getattr(function, "__self__", None)
        if getattr(owner, "__name__", "") in FORBIDDEN_ATTRIBUTES | GUARDED_ATTRIBUTES:
            raise Unsupported(f"descriptor {owner!r} is closed to interpreted code")


def guarded_attribute(
    value: Any, name: str, own_class: Callable[[Any], bool], own_function: Callable[[Any], bool]
) -> Any:
    """Return ``__dict__`` and the like of interpreted objects; refuse them for native ones."""
    if isinstance(value, types.ModuleType):
        raise Unsupported(f"{name} of a native module is closed to interpreted code")
    result = getattr(value, name)
    if isinstance(result, types.ModuleType):
        raise Unsupported(f"{name} of {type(value).__name__} is closed to interpreted code")
    if name == "__dict__" and isinstance(value, type) and not own_class(value):
        raise Unsupported(f"__dict__ of native class {value.__name__} is closed to interpreted code")
    if name == "__get__":
        check_native(result)
    return result


def check_storable(
    target: Any, own_class: Callable[[Any], bool], own_function: Callable[[Any], bool]
) -> None:
    """Refuse to change native classes, functions and modules.

    Raises:
        Unsupported: the target is shared with the host program.
    """
    if isinstance(target, type):
        if not own_class(target):
            raise Unsupported(f"a store to native class {target.__name__}")
    elif isinstance(target, types.FunctionType):
        if not own_function(target):
            raise Unsupported(f"a store to native function {target.__name__}")
    elif isinstance(target, (types.ModuleType, types.BuiltinFunctionType, types.MethodType)):
        raise Unsupported(f"a store to {target!r}")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes, bytearray, list, tuple)) else 0


def multiply(left: Any, right: Any) -> Any:
    """``left * right`` of bounded size."""
    if type(left) is int and type(right) is int:
        if left.bit_length() + right.bit_length() > MAX_INTEGER_BITS:
            raise Unsupported("an integer too large to compute")
    else:
        size, count = (_length(left), right) if _length(left) else (_length(right), left)
        if size and isinstance(count, int) and size * count > MAX_ITEMS:
            raise Unsupported("a sequence too long to build")
    return left * right


def power(base: Any, exponent: Any, *modulus: Any) -> Any:
    """``base ** exponent`` of bounded size."""
    integers = isinstance(base, int) and isinstance(exponent, int) and not modulus
    if integers and exponent > 0 and base.bit_length() * exponent > MAX_INTEGER_BITS:
        raise Unsupported("an integer too large to compute")
    return pow(base, exponent, *modulus) if modulus else base**exponent


def shift_left(value: Any, count: Any) -> Any:
    """``value << count`` of bounded size."""
    if isinstance(value, int) and isinstance(count, int) and count > MAX_INTEGER_BITS:
        raise Unsupported("an integer too large to compute")
    return value << count


def bounded_range(*args: Any) -> range:
    """``range`` of bounded length."""
    result = range(*args)
    if len(result) > MAX_ITEMS:
        raise Unsupported("a range too long to run through")
    return result
