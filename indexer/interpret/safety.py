"""The sandbox's edges: which native names, attributes and operations interpreted code may use."""

from __future__ import annotations

import abc
import argparse
import enum
import re
import string
import types
import typing
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from indexer.interpret.external import ExternalBase
from indexer.interpret.marks import is_interpreted_class, is_interpreted_function
from indexer.interpret.rewrite import FORBIDDEN_ATTRIBUTES, GUARDED_ATTRIBUTES
from indexer.interpret.signals import Unsupported

PLAIN_BUILTINS = (
    *("abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "classmethod"),
    *("complex", "dict", "dir", "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash"),
    *("hex", "int", "len", "list", "map", "max", "memoryview", "min", "next", "object", "oct", "ord"),
    *("property", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum"),
    *("super", "tuple", "type", "zip", "NotImplemented", "Ellipsis", "None", "True", "False"),
)
"""Builtins handed out as they are: they touch nothing but their arguments."""

MAX_ITEMS = 50_000_000
MAX_INTEGER_BITS = 100_000

_CLOSED_CONSTRUCTORS = (types.FunctionType, types.CodeType, types.ModuleType, types.FrameType, types.CellType)
_CLOSED_NATIVE = FORBIDDEN_ATTRIBUTES | {"__get__"}
"""Names of native methods that are looked at more closely before they are called."""


_LOOKED_AT = FORBIDDEN_ATTRIBUTES | GUARDED_ATTRIBUTES


def is_open(name: str) -> bool:
    """Tell whether a plain text names an attribute that any object may be asked for."""
    return name not in _LOOKED_AT and not name.startswith("_rt_")


def check_attribute(name: Any) -> Any:
    """Refuse an attribute name that leads out of the sandbox; return the name as a plain text.

    A text of an interpreted class could answer one comparison with yes and the next with no.

    Raises:
        Unsupported: the attribute is closed to interpreted code.
    """
    if isinstance(name, str):
        name = str.__str__(name)
        if name in FORBIDDEN_ATTRIBUTES or name.startswith("_rt_"):
            raise Unsupported(f"attribute {name} is closed to interpreted code")
    return name


def check_stored_attribute(name: Any) -> Any:
    """Refuse an attribute name that may not be stored; return the name as a plain text."""
    name = check_attribute(name)
    if name == "__class__":
        raise Unsupported("the class of an object is changed")
    return name


def check_constructor(cls: type) -> None:
    """Refuse to build functions, code, modules and frames."""
    if cls in _CLOSED_CONSTRUCTORS:
        raise Unsupported(f"{cls.__name__}() is closed to interpreted code")


def check_native(function: Any) -> None:
    """Refuse native methods that would hand out what the attribute check refuses."""
    name = getattr(function, "__name__", "")
    if name == "register":
        _check_register(function)
    if name not in _CLOSED_NATIVE:
        return
    if name != "__get__":
        raise Unsupported(f"{name}() is closed to interpreted code")
    owner = getattr(function, "__self__", None)
    if getattr(owner, "__name__", "") in FORBIDDEN_ATTRIBUTES | GUARDED_ATTRIBUTES:
        raise Unsupported(f"descriptor {owner!r} is closed to interpreted code")


def _check_register(function: Any) -> None:
    """Refuse to enter classes of the tree into the host program's abstract classes.

    It is asked where the method is read, too: a native function that is given it calls it unseen.
    """
    owner = getattr(function, "__self__", None)
    if function is abc.ABCMeta.register or (_is_a(owner, abc.ABCMeta) and not is_interpreted_class(owner)):
        raise Unsupported(f"register() of {owner or 'a native class'}")


def guarded_attribute(
    value: Any,
    name: str,
    read: Callable[[Any, str], Any] = getattr,
) -> Any:
    """Return one of the ``GUARDED_ATTRIBUTES``, if what it holds stays in the sandbox.

    Raises:
        Unsupported: it would hand out, or change, something of the host program.
    """
    if issubclass(type(value), types.ModuleType):
        raise Unsupported(f"{name} of a native module is closed to interpreted code")
    result = read(value, name)
    if name == "__dict__":
        if _is_a(value, type) and not is_interpreted_class(value):
            return _ClosedNames.of(value, result)
        _check_dictionary(value, result)
        return result
    if isinstance(result, types.ModuleType):
        raise Unsupported(f"{name} of {type(value).__name__} is closed to interpreted code")
    if name in ("__get__", "register"):
        check_native(result)
    elif name in _ANY_ATTRIBUTE:
        return result if _is_of_the_tree(result) else _checked_slot(result, name)
    elif name in ("__self__", "__func__", "__wrapped__"):
        if not (type(result) in _PLAIN_TYPES or is_interpreted_function(result) or _is_own(result)):
            raise Unsupported(f"{name} of a native function is closed to interpreted code")
    elif name in ("__base__", "__bases__", "__mro__", "mro"):
        # Behind the parser of ours is the one that reads files; ``type.mro`` would ask for any class.
        if _is_a(value, type) and issubclass(value, (type, argparse.ArgumentParser)):
            raise Unsupported(f"{name} of {value.__name__} is closed to interpreted code")
    elif name in _TABLES and type(result) in (dict, list):
        return result if _is_own(value) or is_interpreted_function(value) else result.copy()
    elif name in ("__getstate__", "__reduce__", "__reduce_ex__"):
        if not is_interpreted_class(type(value)):
            raise Unsupported(f"{name} of native {type(value).__name__} is closed to interpreted code")
    elif name in ("format", "format_map"):
        of_text = _is_a(value, str) or (_is_a(value, type) and issubclass(value, str))
        return _checked_format(result) if of_text and isinstance(result, _NATIVE_METHODS) else result
    return result


def _is_a(value: Any, kinds: Any) -> bool:
    """Tell what a value is without asking it: ``isinstance`` reads a ``__class__`` that may be made up."""
    return issubclass(type(value), kinds)


_PLAIN_TYPES = (str, bytes, int, float, bool, type(None), list, dict, set, frozenset, tuple)
_NATIVE_METHODS = (types.BuiltinFunctionType, types.MethodDescriptorType)
_ANY_ATTRIBUTE = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__")
_TABLES = ("__kwdefaults__", "_member_map_", "_member_names_", "_value2member_map_")
"""What a class or function goes by: of the host program's, interpreted code gets copies."""
_ALIASES = typing._BaseGenericAlias  # type: ignore[attr-defined]
"""What stands for a class in ``typing`` and hands every store on to it."""


def _is_own(value: Any) -> bool:
    return is_interpreted_class(value) or is_interpreted_class(type(value))


class _ClosedNames(dict):
    """The ``__dict__`` of a native class: which names it has may be asked, what is behind them not.

    Code that walks an MRO asks every base for a name of its own, ``object`` among them.
    """

    owner = ""

    @classmethod
    def of(cls, owner: type, held: Any) -> _ClosedNames:
        """Return the names of a native class."""
        names = cls(dict.fromkeys(held))
        names.owner = owner.__name__
        return names

    def _closed(self, name: Any) -> Unsupported:
        return Unsupported(f"{name} in __dict__ of native {self.owner} is closed to interpreted code")

    def __getitem__(self, name: Any) -> Any:
        if name in self:
            raise self._closed(name)
        raise KeyError(name)

    def get(self, name: Any, default: Any = None) -> Any:
        if name in self:
            raise self._closed(name)
        return default

    def values(self) -> Any:
        raise self._closed("everything")

    items = values


_bases = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_tree_alone: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _of_the_tree_alone(cls: type) -> bool:
    """Tell whether no class of this program's, whose instances keep things of ours, is a base of a class.

    The class is asked through ``type`` itself: its metaclass may make up what it says of itself.
    """
    known = _tree_alone.get(cls)
    if known is None:
        # The stand-ins of third parties' base classes keep nothing in their instances.
        bases = [
            base for base in _bases(cls) if base is not ExternalBase and ExternalBase not in base.__bases__
        ]
        modules = [_members(base).get("__module__") for base in bases]
        known = all(one is None or not str(one).startswith("indexer.") for one in modules)
        _tree_alone[cls] = known
    return known


def _check_dictionary(value: Any, held: Any) -> None:
    if _is_a(value, types.FunctionType):
        closed = not is_interpreted_function(value)
    else:
        closed = not _of_the_tree_alone(type(value)) and (
            type(value).__module__.startswith("indexer.")
            or any(isinstance(key, str) and key.startswith("_rt_") for key in held)
        )
    if closed:
        raise Unsupported(f"__dict__ of native {value!r} is closed to interpreted code")


def _is_of_the_tree(function: Any) -> bool:
    """Tell whether a function, or the one behind a method, was defined by interpreted code."""
    return is_interpreted_function(function.__func__ if type(function) is types.MethodType else function)


def _checked_slot(
    slot: Any,
    name: str,
) -> Callable[..., Any]:
    """Return a native method that reads, stores or deletes any attribute, such that it asks first."""
    bound = isinstance(slot, (types.MethodWrapperType, types.MethodType))
    reads = name in ("__getattribute__", "__getattr__")

    def native(target: Any, *operands: Any) -> Any:
        return slot(*operands) if bound else slot(target, *operands)

    def checked(*args: Any) -> Any:
        if reads and type(args[-1]) is str and is_open(args[-1]):
            return slot(*args)
        target, attribute, *stored = (slot.__self__, *args) if bound else args
        if not isinstance(attribute, str):
            raise Unsupported(f"{name} of {attribute!r}")
        if reads:
            attribute = check_attribute(attribute)
            if attribute in GUARDED_ATTRIBUTES:
                return guarded_attribute(target, attribute, native)
        else:
            attribute = check_stored_attribute(attribute)
            check_storable(target)
        return native(target, attribute, *stored)

    checked._rt_takes_unknown = True  # type: ignore[attr-defined]
    return checked


def _checked_format(method: Any) -> Callable[..., Any]:
    """Return ``str.format``, whose fields may read attributes, for harmless fields only."""
    bound = isinstance(method, types.BuiltinFunctionType)

    def checked(*args: Any, **kwargs: Any) -> Any:
        template = method.__self__ if bound else args[0]
        if isinstance(template, str):
            _check_template(str.__str__(template))
        return method(*args, **kwargs)

    checked.__name__ = checked.__qualname__ = method.__name__
    return checked


def _check_template(template: str) -> None:
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        return  # str.format says the same
    for _, field, spec, _ in fields:
        if field and any(part.startswith("_") for part in re.split(r"[.\[]", field)[1:]):
            raise Unsupported(f"a format field {field!r}")
        if spec:
            _check_template(spec)


def check_storable(target: Any) -> None:
    """Refuse to change native classes, functions and modules.

    Raises:
        Unsupported: the target is shared with the host program.
    """
    if _is_a(target, _ALIASES):
        check_storable(target.__origin__)
    elif _is_a(target, type):
        if not is_interpreted_class(target):
            raise Unsupported(f"a store to native class {target.__name__}")
    elif _is_a(target, types.FunctionType):
        if not is_interpreted_function(target):
            raise Unsupported(f"a store to native function {target.__name__}")
    elif _is_a(target, (types.ModuleType, types.BuiltinFunctionType, types.MethodType)):
        raise Unsupported(f"a store to {target!r}")
    if _is_a(target, enum.Enum) and not is_interpreted_class(type(target)):
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
