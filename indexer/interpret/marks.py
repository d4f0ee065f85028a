"""How classes and functions of interpreted code, and functions of ours that face it, are told apart."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from indexer.interpret.compiled import MARK

SITE = "@site"
"""Class attribute that marks an interpreted class and holds (path, qualified name, line)."""


def is_interpreted_function(value: Any) -> bool:
    """Tell whether a function was defined by interpreted code."""
    return type(value) is types.FunctionType and value.__code__.co_filename[:1] == MARK


def is_interpreted_class(value: Any) -> bool:
    """Tell whether a class was defined by interpreted code."""
    return issubclass(type(value), type) and getattr(value, SITE, None) is not None


def takes_unknown(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as one that handles unknown arguments itself."""
    if type(function) is types.FunctionType and function.__module__.startswith("indexer."):
        function._rt_takes_unknown = True  # type: ignore[attr-defined]
        return function

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    wrapper._rt_takes_unknown = True  # type: ignore[attr-defined]
    return wrapper
