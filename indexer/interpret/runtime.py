"""What rewritten code calls instead of doing it natively.

``helpers`` are the functions behind the ``@`` names of ``rewrite``; ``builtins`` are the names that
interpreted code finds besides its own. Known values are handled by Python itself; the functions here
keep unknown values from vanishing in native code, count the path's budget, and close the ways out of
the sandbox.
"""

from __future__ import annotations

import builtins as host_builtins
import functools
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indexer.interpret import safety
from indexer.interpret.compiled import MARK
from indexer.interpret.external import External, ExternalBase
from indexer.interpret.signals import UNCATCHABLE, BudgetExceeded, UnknownEscaped, Unsupported, handled
from indexer.interpret.unknown import Unknown, contains_unknown, is_identical, negate

if TYPE_CHECKING:
    from indexer.interpret.modules import ModuleState, Program

SITE = "@site"
"""Class attribute that marks an interpreted class and holds (path, qualified name, line)."""

DEFAULT_BUDGET = 5_000_000
"""Calls and loop turns of one path. The largest resolver takes about 300,000."""

_MISSING = object()


def is_interpreted_function(value: Any) -> bool:
    """Tell whether a function was defined by interpreted code."""
    return type(value) is types.FunctionType and value.__code__.co_filename[:1] == MARK


def is_interpreted_class(value: Any) -> bool:
    """Tell whether a class was defined by interpreted code."""
    return issubclass(type(value), type) and getattr(value, SITE, None) is not None


class Runtime:
    """The helpers and builtins of one program."""

    def __init__(self, program: Program, world: Any) -> None:
        self.program = program
        self.world = world
        self.budget = DEFAULT_BUDGET
        self.call = self._make_call()
        self.builtins = self._builtins()
        self.frame_builtins = {"__build_class__": self.build_class, "__import__": self._refuse("__import__")}
        self._shared = {
            "@call": self.call,
            "@forbidden": self.forbidden,
            "@attribute": self.guarded_attribute,
            "@store": self.storable,
            "@is": is_identical,
            "@is_not": lambda left, right: negate(is_identical(left, right)),
            "@in": self.contains,
            "@not_in": lambda left, right: negate(self.contains(left, right)),
            "@not": negate,
            "@mul": safety.multiply,
            "@pow": safety.power,
            "@lshift": safety.shift_left,
            "@mod": self.modulo,
            "@text": self.text,
            "@tick": self.tick,
            "@known": self.known,
            "@signals": UNCATCHABLE,
            "@AssertionError": AssertionError,
            "@decorator": self.decorator,
            "@made": self.made,
        }

    def helpers(self, module: ModuleState) -> dict[str, Any]:
        """Return the runtime names of a module's namespace."""
        program = self.program

        def import_name(dotted: str, renamed: bool) -> Any:
            found = program.import_module(dotted)
            return found if renamed else program.import_module(dotted.partition(".")[0])

        def import_from(target: str, level: int, name: str) -> Any:
            return program.import_from(target, level, name, module)

        def import_star(target: str, level: int) -> None:
            raise Unsupported(f"star import of {target} inside a function")

        names = dict(self._shared)
        names["@import"] = import_name
        names["@import_from"] = import_from
        names["@import_star"] = import_star
        names["__builtins__"] = self.frame_builtins
        return names

    def made(self, value: dict[str, Any], lines: dict[str, int]) -> dict[str, Any]:
        """Note where the entries of a returned dictionary are written."""
        code = sys._getframe(1).f_code
        self.world.made.append((code.co_filename[1:], code.co_qualname, lines, value))
        return value

    # -- calls ------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise BudgetExceeded("the path's budget of calls and loop turns is used up")

    def _make_call(self) -> Callable[..., Any]:
        function_type, method_type = types.FunctionType, types.MethodType
        host = self._host_call
        tick = self.tick

        def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            tick()
            kind = type(function)
            if kind is function_type:
                if function.__code__.co_filename[:1] == MARK:
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
        if kind is types.FunctionType:
            if "_rt_takes_unknown" in function.__dict__:
                return function(*args, **kwargs)
        elif kind is types.BuiltinFunctionType:
            if function.__name__ in safety.CLOSED_NATIVE:
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
                return value._rt_derive(f"{_name_of(function)}()", *args, *kwargs.values())
        try:
            return function(*args, **kwargs)
        except UnknownEscaped as error:
            if _crossed_interpreted_frame(error):
                raise
            if type(error.unknown) is Unknown:
                return error.unknown._rt_derive(f"{_name_of(function)}()", *args)
            return Unknown(f"{_name_of(function)}() of {error.unknown!r}")
        except Exception as error:
            if not _crossed_interpreted_frame(error):
                unknown = self._unknown_operand(function, (*args, kwargs), error)
                if unknown is not None:
                    return unknown
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
            return found._rt_derive(f"{_name_of(function)}()", *args[:-1])
        if any(type(value) is External for value in args):
            raise Unsupported(f"{_name_of(function)}() of a third party's value failed: {error}") from error
        return None

    @staticmethod
    def _type_of(value: Any) -> Any:
        if type(value) is Unknown:
            return value._rt_kind or value._rt_derive("type")
        if type(value) is External:
            return Unknown(f"type of {value!r}")
        return type(value)

    def decorator(self, decorator: Any) -> Any:
        """Return what to decorate with: a third-party decorator is taken to keep its function."""
        if type(decorator) in (External, Unknown):
            known = self.world.external_decorator(decorator)
            return known if known is not None else _identity
        return lambda target: self.call(decorator, target)

    # -- operators --------------------------------------------------------------------------------

    def contains(self, item: Any, container: Any) -> Any:
        if type(container) is Unknown:
            return container._rt_derive("contains", item)
        if type(item) is Unknown:
            if isinstance(container, (list, tuple, set, frozenset, dict, str)) and not len(container):
                return False
            return item._rt_derive("in", container)
        return item in container

    def modulo(self, left: Any, right: Any) -> Any:
        if isinstance(left, (str, bytes)):
            found = contains_unknown(right)
            if found is not None:
                return found._rt_derive(f"text {left!r}", right)
        return left % right

    def text(self, *parts: Any) -> Any:
        """Join the parts of an f-string; unknown as soon as one part is."""
        pieces: list[str] = []
        unknown: Unknown | None = None
        for part in parts:
            if type(part) is str:
                pieces.append(part)
                continue
            value, conversion, spec = part
            if type(value) is Unknown or type(spec) is Unknown:
                unknown = unknown or (value if type(value) is Unknown else spec)
                pieces.append("{?}")
                continue
            try:
                if conversion == 114:
                    value = repr(value)
                elif conversion == 115:
                    value = str(value)
                elif conversion == 97:
                    value = ascii(value)
                pieces.append(format(value, spec))
            except UnknownEscaped as error:
                if _crossed_interpreted_frame(error):
                    raise
                found = contains_unknown(value)
                unknown = unknown or found or Unknown(f"text of {error.unknown!r}")
                pieces.append("{?}")
        if unknown is not None:
            return unknown._rt_derive("".join(pieces))
        return "".join(pieces)

    @staticmethod
    def known(value: Any) -> Any:
        if type(value) is Unknown:
            raise UnknownEscaped(value, "match")
        return value

    # -- attributes -------------------------------------------------------------------------------

    @staticmethod
    def forbidden(value: Any, name: str) -> Any:
        raise Unsupported(f"attribute {name} is closed to interpreted code")

    def guarded_attribute(self, value: Any, name: str) -> Any:
        """Hand out ``__dict__``, ``__self__`` and their like as far as they stay in the sandbox."""
        if type(value) in (Unknown, External):
            return getattr(value, name) if type(value) is External else value._rt_derive(name)
        return safety.guarded_attribute(value, name, is_interpreted_class, is_interpreted_function)

    def storable(self, target: Any) -> Any:
        """Return the object whose attribute is stored, if storing to it stays in the sandbox."""
        if type(target) in (Unknown, External):
            return _Sink()
        safety.check_storable(target, is_interpreted_class, is_interpreted_function)
        return target

    def get_attribute(self, value: Any, name: Any, *default: Any) -> Any:
        if type(value) is Unknown:
            return value._rt_derive("getattr", name)
        if type(name) is Unknown:
            return name._rt_derive("getattr")
        name = safety.check_attribute(name)
        if name in safety.GUARDED_ATTRIBUTES:
            try:
                return self.guarded_attribute(value, name)
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

    def has_attribute(self, value: Any, name: Any) -> Any:
        if type(value) is Unknown:
            return value._rt_derive("hasattr", name)
        if type(value) is External:
            present = self.world.external_has(value, name)
            return Unknown(f"whether {value} has {name}") if present is None else present
        name = safety.check_attribute(name)
        found = getattr(value, name, _MISSING)
        if found is _MISSING:
            return False
        if type(found) is Unknown and isinstance(value, ExternalBase):
            return found._rt_derive("hasattr")
        return True

    def set_attribute(self, value: Any, name: str, new: Any) -> None:
        name = safety.check_stored_attribute(name)
        setattr(self.storable(value), name, new)

    def delete_attribute(self, value: Any, name: str) -> None:
        name = safety.check_stored_attribute(name)
        delattr(self.storable(value), name)

    def iterator(self, *args: Any) -> Any:
        """``iter``; the calls of its second form are paid from the path's budget."""
        if len(args) != 2:
            return iter(*args)
        function, sentinel = args
        return iter(lambda: self.call(function), sentinel)

    # -- classes ----------------------------------------------------------------------------------

    def is_instance(self, value: Any, kinds: Any) -> Any:
        return self._kind_of(value, kinds, isinstance)

    def is_subclass(self, value: Any, kinds: Any) -> Any:
        return self._kind_of(value, kinds, issubclass)

    def _kind_of(self, value: Any, kinds: Any, test: Callable[[Any, Any], bool]) -> Any:
        if type(value) is Unknown:
            kind = value._rt_kind
            if kind is not None and test is isinstance and isinstance(kinds, type):
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

    def build_class(self, body: Any, name: str, *bases: Any, **kwargs: Any) -> type:
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
        cls = host_builtins.__build_class__(body, name, *_without_duplicates(resolved, self.world), **kwargs)
        if isinstance(cls, type):
            site = (body.__code__.co_filename[1:], body.__code__.co_qualname, body.__code__.co_firstlineno)
            type.__setattr__(cls, SITE, site)
            self.world.class_created(cls, module, site)
        return cls

    # -- builtins ---------------------------------------------------------------------------------

    @staticmethod
    def is_host_builtin(name: str) -> bool:
        return hasattr(host_builtins, name)

    @staticmethod
    def _refuse(name: str) -> Callable[..., Any]:
        def refused(*args: Any, **kwargs: Any) -> Any:
            raise Unsupported(f"{name}() is closed to interpreted code")

        return refused

    def _builtins(self) -> dict[str, Any]:
        offered: dict[str, Any] = {}
        for name in safety.PLAIN_BUILTINS:
            offered[name] = getattr(host_builtins, name)
        for name, value in vars(host_builtins).items():
            if isinstance(value, type) and issubclass(value, BaseException):
                offered[name] = value
        offered |= {
            "isinstance": _takes_unknown(self.is_instance),
            "issubclass": _takes_unknown(self.is_subclass),
            "getattr": _takes_unknown(self.get_attribute),
            "hasattr": _takes_unknown(self.has_attribute),
            "setattr": _takes_unknown(self.set_attribute),
            "delattr": _takes_unknown(self.delete_attribute),
            "range": safety.bounded_range,
            "iter": self.iterator,
            "pow": safety.power,
            "print": _takes_unknown(lambda *args, **kwargs: None),
            "vars": _takes_unknown(self._vars),
            "open": _takes_unknown(lambda *args, **kwargs: self.world.open(*args, **kwargs)),
            "id": _takes_unknown(host_builtins.id),
            "bool": bool,
            "__debug__": True,
        }
        for name in ("eval", "exec", "compile", "globals", "locals", "input", "breakpoint"):
            offered[name] = self._refuse(name)
        offered["__import__"] = _takes_unknown(lambda name, *rest, **kwargs: self.program.import_module(name))
        return offered

    def _vars(self, *args: Any) -> Any:
        if not args:
            raise Unsupported("vars() without an argument")
        return self.guarded_attribute(args[0], "__dict__")


class _Sink:
    """Swallows attributes stored on something opaque."""


def _identity(target: Any) -> Any:
    return target


def _takes_unknown(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of ours as one that handles unknown arguments itself."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    wrapper._rt_takes_unknown = True  # type: ignore[attr-defined]
    return wrapper


takes_unknown = _takes_unknown

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


def _crossed_interpreted_frame(error: BaseException) -> bool:
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
