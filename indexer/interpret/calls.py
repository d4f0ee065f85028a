"""Calls of interpreted code: to its own functions directly, to native ones with care."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable
from typing import Any

from indexer.interpret import safety
from indexer.interpret.compiled import MARK
from indexer.interpret.external import External
from indexer.interpret.marks import SITE, is_interpreted_function
from indexer.interpret.signals import BudgetExceeded, UnknownEscaped, Unsupported
from indexer.interpret.unknown import JsonValue, Unknown, contains_unknown, is_about_unknown

DEFAULT_BUDGET = 5_000_000
"""Calls and loop turns of one path. The largest resolver takes about 300,000."""


class Calls:
    """The calls of one path, and the budget they are paid from."""

    def __init__(self) -> None:
        self.tick = _paid_steps(DEFAULT_BUDGET)
        self.call = self._make_call()

    def _make_call(self) -> Callable[..., Any]:
        function_type, method_type = types.FunctionType, types.MethodType
        host = self._host_call
        tick = self.tick

        def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            tick()
            kind = type(function)
            if kind is function_type:
                if function.__code__.co_filename[:1] == MARK or "_rt_takes_unknown" in function.__dict__:
                    return function(*args, **kwargs)
            elif kind is method_type:
                inner = function.__func__
                if type(inner) is function_type and inner.__code__.co_filename[:1] == MARK:
                    return function(*args, **kwargs)
            return host(function, args, kwargs)

        return call

    def _host_call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call something native without letting an unknown value vanish in it."""
        kind = type(function)
        if kind is types.FunctionType or kind is types.BuiltinFunctionType:
            safety.check_native(function)
        elif kind is Unknown or kind is External:
            return function(*args, **kwargs)
        elif isinstance(function, type):
            if function is type and len(args) == 1:
                return self._type_of(args[0])
            if function is bool and args and type(args[0]) is Unknown:
                return args[0]  # its truth is the same question
            if getattr(function, SITE, None) is not None or issubclass(function, BaseException):
                return function(*args, **kwargs)
            safety.check_constructor(function)
        elif getattr(kind, SITE, None) is not None:  # an interpreted object with __call__
            return function(*args, **kwargs)
        elif kind is functools.partial:
            return self.call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
        elif kind is types.MethodWrapperType or kind is types.MethodType:
            if getattr(function, "_rt_takes_unknown", False):
                return function(*args, **kwargs)
            safety.check_native(function)
        elif not callable(function):
            raise TypeError(f"'{kind.__name__}' object is not callable")
        for value in (*args, *kwargs.values()) if kwargs else args:
            if type(value) is Unknown and not _stores_only(function):
                _check_effect(function, value)
                return value._rt_derive(f"{_name_of(function)}()", *args, *kwargs.values())
        try:
            return function(*args, **kwargs)
        except UnknownEscaped as error:
            if crossed_interpreted_frame(error):
                raise
            _check_effect(function, error.unknown)
            if type(error.unknown) is Unknown:
                return error.unknown._rt_derive(f"{_name_of(function)}()", *args)
            return Unknown(f"{_name_of(function)}() of {error.unknown!r}")
        except Exception as error:
            if not crossed_interpreted_frame(error):
                unknown = self._unknown_operand(function, (*args, kwargs), error)
                if unknown is not None:
                    return unknown
            if is_about_unknown(error):
                if function in (str, repr, format, ascii) and len(args) == 1:
                    return unknown_text(args[0])
                raise Unsupported(f"{_name_of(function)}(): {error}") from error
            raise

    def _unknown_operand(self, function: Any, args: tuple[Any, ...], error: Exception) -> Any:
        """Return the unknown result of a native call that failed over an unknown among its operands.

        Raises:
            Unsupported: a third party's opaque value may have made it fail.
        """
        owner = getattr(function, "__self__", None)
        found = contains_unknown(args)
        if found is None and isinstance(owner, (list, tuple, dict, set)):
            found = contains_unknown(owner)
        if found is not None:
            _check_effect(function, found)
            return found._rt_derive(f"{_name_of(function)}()", *args[:-1])
        if any(type(value) is External for value in args):
            raise Unsupported(f"{_name_of(function)}() of a third party's value failed: {error}") from error
        return None

    @staticmethod
    def _type_of(value: Any) -> Any:
        if type(value) is Unknown:
            known = value._rt_kind not in (None, JsonValue)
            return value._rt_kind if known else value._rt_derive("type")
        if type(value) is External:
            return Unknown(f"type of {value!r}")
        return type(value)


def _paid_steps(budget: int) -> Callable[[], None]:
    """Return what each call and loop turn is paid with: it raises ``BudgetExceeded`` when all are spent.

    It runs for every one of them, so it is made of native iterators, which never leave this loop: after
    the budget's items come those of a function that only raises.
    """

    def spent() -> None:
        raise BudgetExceeded("the path's budget of calls and loop turns is used up")

    return itertools.chain(itertools.repeat(None, budget), iter(spent, object())).__next__


_STORING = frozenset(
    {
        *("append", "insert", "setdefault", "get", "pop", "update", "add", "extend", "copy", "items"),
        *("values", "keys", "__setitem__", "__init__", "__setattr__"),
    }
)


def _stores_only(function: Any) -> bool:
    """Tell whether a native callable only keeps its arguments, so that unknowns may be among them."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (list, dict, set)) and function.__name__ in _STORING:
        return True
    if isinstance(function, type):
        if issubclass(function, (list, dict, tuple, set, frozenset, enumerate, zip, reversed, map, filter)):
            return True
        return function in (types.SimpleNamespace, functools.partial, property, staticmethod, classmethod)
    return isinstance(function, (types.MethodWrapperType, types.WrapperDescriptorType)) and (
        function.__name__ in ("__init__", "__setattr__", "__set__", "__setitem__", "__delattr__")
    )


_CHANGING = frozenset(
    {
        *("add", "append", "appendleft", "clear", "difference_update", "discard", "dump", "extend"),
        *("extendleft", "heapify", "heappop", "heappush", "heappushpop", "heapreplace", "insert", "insort"),
        *("insort_left", "insort_right", "intersection_update", "move_to_end", "pop", "popitem", "popleft"),
        *("remove", "reverse", "rotate", "safe_dump", "setdefault", "shuffle", "sort", "subtract"),
        *("symmetric_difference_update", "update", "write", "writelines", "__delitem__", "__setitem__"),
        *("__iadd__", "__ior__", "__iand__", "__isub__", "__ixor__", "__init__", "__post_init__"),
        *("add_argument", "callback", "enter_context", "push", "set_defaults"),
    }
)
"""Native callables whose effect is what they are called for."""


def _check_effect(function: Any, unknown: Any) -> None:
    """End the path where a call couldn't have its effect because of an unknown: what follows would lack it.

    Raises:
        Unsupported: the function changes something.
    """
    if getattr(function, "__name__", "") in _CHANGING:
        roots = ", ".join(unknown._rt_roots) if type(unknown) is Unknown else repr(unknown)
        raise Unsupported(f"what {_name_of(function)}() changes depends on {roots}")


def unknown_text(value: Any) -> Unknown:
    """Return the text of an interpreted object that can't say what it is, for it holds an unknown."""
    for name in ("__str__", "__repr__"):
        method = getattr(type(value), name, None)
        said = method(value) if method is not None and is_interpreted_function(method) else None
        if type(said) is Unknown:
            return said
    return Unknown(f"text of {type(value).__name__}")


def crossed_interpreted_frame(error: BaseException) -> bool:
    """Tell whether an error passed through interpreted code below the native call."""
    trace = error.__traceback__
    trace = trace.tb_next if trace is not None else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename[:1] == MARK:
            return True
        trace = trace.tb_next
    return False


def _name_of(function: Any) -> str:
    return (
        getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(type(function))
    )
