"""Third-party code: opaque names that compare by where they live."""

from __future__ import annotations

from typing import Any

from indexer.interpret.signals import UnknownEscaped
from indexer.interpret.unknown import Unknown

_CANONICAL = {
    "torch.half": "torch.float16",
    "torch.float": "torch.float32",
    "torch.double": "torch.float64",
    "torch.short": "torch.int16",
    "torch.int": "torch.int32",
    "torch.long": "torch.int64",
}
"""PyTorch's second names of its element types."""


class External:
    """A name of a third-party package (``torch.bfloat16``), known only by its dotted path.

    Its attributes are further externals unless the ``World`` knows better; calling it gives what the
    world says, else an unknown.
    """

    __slots__ = ("_rt_path", "_rt_world")

    def __init__(self, path: str, world: Any) -> None:
        object.__setattr__(self, "_rt_path", _CANONICAL.get(path, path))
        object.__setattr__(self, "_rt_world", world)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__version__", "__name__"):
            raise AttributeError(name)
        return self._rt_world.external_attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._rt_world.external_call(self, args, kwargs)

    def __getitem__(self, item: Any) -> Any:
        return External(f"{self._rt_path}[]", self._rt_world)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (self._rt_world.external_base(self),)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, External):
            return self._rt_path == other._rt_path
        if type(other) is Unknown:
            return other == self
        return False

    def __hash__(self) -> int:
        return hash(self._rt_path)

    def __bool__(self) -> bool:
        return True

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: Any) -> None:
        return None

    def __iter__(self) -> Any:
        raise UnknownEscaped(self, "iteration")

    def __len__(self) -> int:
        raise UnknownEscaped(self, "length")

    def __str__(self) -> str:
        return self._rt_path

    def __format__(self, spec: str) -> str:
        return format(self._rt_path, spec)

    def __repr__(self) -> str:
        return self._rt_path

    def __copy__(self) -> External:
        return self

    def __deepcopy__(self, memo: Any) -> External:
        return self


class ExternalBase:
    """Root of the stand-ins for third-party base classes of interpreted classes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__()
