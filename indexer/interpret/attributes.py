"""Attributes as interpreted code reads and stores them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from indexer.interpret import safety
from indexer.interpret.external import External, ExternalBase
from indexer.interpret.signals import Unsupported
from indexer.interpret.unknown import Unknown

_MISSING = object()


class Attributes:
    """Attribute access in one world; ``call`` is how interpreted code calls."""

    def __init__(self, world: Any, call: Callable[..., Any]) -> None:
        self.world = world
        self.call = call

    @staticmethod
    def forbidden(value: Any, name: str) -> Any:
        raise Unsupported(f"attribute {name} is closed to interpreted code")

    def guarded(self, value: Any, name: str) -> Any:
        """Hand out ``__dict__``, ``__self__`` and their like as far as they stay in the sandbox."""
        if type(value) in (Unknown, External):
            return getattr(value, name) if type(value) is External else value._rt_derive(name)
        return safety.guarded_attribute(value, name)

    def native_read(self, value: Any, *args: Any) -> Any:
        """``value.__getattribute__(*args)``, which configuration classes do thousands of times."""
        if args and type(args[-1]) is str and safety.is_open(args[-1]) and type(value) is super:
            read = value.__getattribute__
            if type(read) is types.MethodWrapperType and len(args) == 1:
                return read(args[0])
        return self.call(self.guarded(value, "__getattribute__"), *args)

    def native_write(self, value: Any, *args: Any) -> Any:
        """``value.__setattr__(*args)``, likewise."""
        if len(args) == 2 and type(args[0]) is str and type(value) is super and args[0] != "__class__":
            write = value.__setattr__
            if type(write) is types.MethodWrapperType and safety.is_open(args[0]):
                self.storable(write.__self__)
                return write(*args)
        return self.call(self.guarded(value, "__setattr__"), *args)

    def storable(self, target: Any) -> Any:
        """Return the object whose attribute is stored, if storing to it stays in the sandbox."""
        if type(target) in (Unknown, External):
            return _Sink()
        safety.check_storable(target)
        return target

    def get(self, value: Any, name: Any, *default: Any) -> Any:
        if type(name) is str and type(value) not in (Unknown, External) and safety.is_open(name):
            return getattr(value, name, *default)
        if type(value) is Unknown:
            return value._rt_derive("getattr", name)
        if type(name) is Unknown:
            return name._rt_derive("getattr")
        name = safety.check_attribute(name)
        if name in safety.GUARDED_ATTRIBUTES:
            try:
                return self.guarded(value, name)
            except AttributeError:
                if default:
                    return default[0]
                raise
        if type(value) is External:
            present = self.world.external_has(value, name)
            if present is False and default:
                return default[0]
            if default and present is None:
                return Unknown(f"{value}.{name}")
        return getattr(value, name, *default)

    def has(self, value: Any, name: Any) -> Any:
        if type(value) is Unknown:
            return value._rt_derive("hasattr", name)
        if type(value) is External:
            present = self.world.external_has(value, name)
            return Unknown(f"whether {value} has {name}") if present is None else present
        name = safety.check_attribute(name)
        found = getattr(value, name, _MISSING)
        if found is _MISSING:
            return False
        partly = isinstance(value, ExternalBase) or getattr(type(value), "_rt_partly", False)
        if type(found) is Unknown and partly:
            return found._rt_derive("hasattr")
        return True

    def set(self, value: Any, name: str, new: Any) -> None:
        name = safety.check_stored_attribute(name)
        setattr(self.storable(value), name, new)

    def delete(self, value: Any, name: str) -> None:
        name = safety.check_stored_attribute(name)
        delattr(self.storable(value), name)

    def members(self, *args: Any) -> Any:
        if not args:
            raise Unsupported("vars() without an argument")
        return self.guarded(args[0], "__dict__")


class _Sink:
    """Swallows attributes stored on something opaque."""
