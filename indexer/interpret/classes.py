"""Classes of interpreted code, and the question which class a value is of."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from indexer.interpret.external import External, ExternalBase
from indexer.interpret.marks import SITE
from indexer.interpret.signals import Unsupported, handled
from indexer.interpret.unknown import JsonValue, Unknown


class Classes:
    """Making and telling classes in one world."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.is_instance = self._is_instance()

    def _is_instance(self) -> Callable[[Any, Any], Any]:
        kind_of = self._kind_of

        def is_instance(value: Any, kinds: Any, /) -> Any:
            if type(kinds) is type and type(value) not in (Unknown, External):
                return isinstance(value, kinds)
            return kind_of(value, kinds, isinstance)

        return is_instance

    def is_subclass(self, value: Any, kinds: Any) -> Any:
        return self._kind_of(value, kinds, issubclass)

    def _kind_of(self, value: Any, kinds: Any, test: Callable[[Any, Any], bool]) -> Any:
        if type(value) is Unknown:
            kind = value._rt_kind
            if kind is JsonValue and (type(kinds) is External or getattr(kinds, SITE, None) is not None):
                return False
            if kind not in (None, JsonValue) and test is isinstance and isinstance(kinds, type):
                return issubclass(kind, kinds)
            if not (kind is not None and isinstance(kinds, tuple)):
                return value._rt_derive(test.__name__, _kind_key(kinds))
        if isinstance(kinds, (tuple, types.UnionType)):
            members = kinds if isinstance(kinds, tuple) else kinds.__args__
            unknown = None
            for kind in members:
                answer = self._kind_of(value, kind, test)
                if answer is True:
                    return True
                if answer is not False:
                    unknown = answer
            return False if unknown is None else unknown
        if type(kinds) is Unknown:
            return kinds._rt_derive(test.__name__, value)
        if type(kinds) is External:
            kinds = self.world.external_base(kinds)
            if type(value) is External:
                return Unknown(f"{test.__name__}({value}, {kinds.__name__})")
            return test(value, kinds)
        if type(value) is External:
            return self.world.external_is_instance(value, kinds)
        return test(value, kinds)

    def build(self, body: Any, name: str, *bases: Any, **kwargs: Any) -> type:
        """Create an interpreted class; a real class, marked with where it was written."""
        namespace = body.__globals__
        module = namespace["__name__"]
        state = namespace._rt_module
        for needed in body.__code__.co_names:
            # Class bodies look names up without asking the lazy namespace, so bind them first.
            if needed not in namespace and needed in state.compiled.binders:
                try:
                    namespace[needed]
                except KeyError:
                    continue
                except Unsupported as error:
                    handled(error)  # perhaps an attribute's name, and not needed at all
                    continue
                except ImportError:
                    raise
                except Exception as error:
                    raise Unsupported(f"{state.path}: class {name} needs {needed}: {error!r}") from error
        if type(kwargs.get("metaclass")) in (External, Unknown):
            del kwargs["metaclass"]
        resolved = tuple(ExternalBase if type(base) is Unknown else base for base in bases)
        cls = builtins.__build_class__(body, name, *_without_duplicates(resolved, self.world), **kwargs)
        if isinstance(cls, type):
            site = (body.__code__.co_filename[1:], body.__code__.co_qualname, body.__code__.co_firstlineno)
            type.__setattr__(cls, SITE, site)
            self.world.class_created(cls, module, site)
        return cls


def _kind_key(kinds: Any) -> Any:
    if isinstance(kinds, tuple):
        return tuple(_kind_key(kind) for kind in kinds)
    return getattr(kinds, "__qualname__", None) or repr(kinds)


def _without_duplicates(bases: tuple[Any, ...], world: Any) -> tuple[Any, ...]:
    seen: list[Any] = []
    for base in bases:
        actual = world.external_base(base) if type(base) is External else base
        if actual is ExternalBase and any(isinstance(s, type) and issubclass(s, ExternalBase) for s in seen):
            continue
        if actual not in seen:
            seen.append(actual)
    return tuple(seen)
