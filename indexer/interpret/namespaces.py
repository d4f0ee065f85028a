"""A module's names, as its own code, other modules and ``globals()`` see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from indexer.interpret.signals import Unsupported

if TYPE_CHECKING:
    from indexer.interpret.modules import ModuleState


class Namespace(dict):
    """A module's globals. Looking a missing name up binds it, if the module can."""

    __slots__ = ("_rt_module",)

    def __init__(self, module: ModuleState) -> None:
        super().__init__()
        self._rt_module = module

    def __missing__(self, name: str) -> Any:
        return self._rt_module.bind(name)


class InterpretedModule:
    """One module of the tree, as interpreted code sees it: nothing but its names."""

    __slots__ = ("_rt_state",)

    def __init__(self, state: ModuleState) -> None:
        object.__setattr__(self, "_rt_state", state)

    def __getattr__(self, name: str) -> Any:
        return self._rt_state.lookup(name)

    def __setattr__(self, name: str, value: Any) -> None:
        name = str.__str__(name)
        if name.startswith("@") or name == "__builtins__":
            raise Unsupported(f"a store to the runtime's {name}")
        self._rt_state.namespace[name] = value

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # else the memo would hand out what is behind it

    def __repr__(self) -> str:
        return f"<module '{self._rt_state.dotted}'>"


class ModuleNames:
    """``globals()``: a module's names, one at a time; what else its namespace holds isn't the tree's."""

    __slots__ = ("_rt_face",)

    def __init__(self, face: InterpretedModule) -> None:
        if type(face) is not InterpretedModule:  # the tree can reach this class, and call it
            raise Unsupported("the names of something that is no module")
        self._rt_face = face

    def __getitem__(self, name: str) -> Any:
        name = str.__str__(name)
        if name.startswith(("@", "_rt_")) or name == "__builtins__":
            raise KeyError(name)
        try:
            return self._rt_face._rt_state.lookup(name)  # never an attribute of the module's stand-in
        except AttributeError:
            raise KeyError(name) from None

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: str) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __setitem__(self, name: str, value: Any) -> None:
        self.get(name)  # the statement that binds it has run before this one
        setattr(self._rt_face, name, value)

    def __iter__(self) -> Iterator[str]:
        state = self._rt_face._rt_state
        state.run_all()
        return iter([name for name in state.compiled.binders if name in state.namespace])

    keys = __iter__

    def items(self) -> list[tuple[str, Any]]:
        return [(name, self[name]) for name in self]

    def values(self) -> list[Any]:
        return [self[name] for name in self]

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<names of {self._rt_face!r}>"
