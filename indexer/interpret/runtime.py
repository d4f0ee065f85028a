"""What rewritten code calls instead of doing it natively.

``helpers`` are the functions behind the ``@`` names of ``rewrite``; ``builtins`` are the names that
interpreted code finds besides its own. Known values are handled by Python itself; the functions here
and in ``calls``, ``attributes`` and ``classes`` keep unknown values from vanishing in native code,
count the path's budget, and close the ways out of the sandbox.
"""

from __future__ import annotations

import builtins as host_builtins
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indexer.interpret import safety
from indexer.interpret.attributes import Attributes
from indexer.interpret.calls import Calls, crossed_interpreted_frame, unknown_text
from indexer.interpret.classes import Classes
from indexer.interpret.compiled import MARK
from indexer.interpret.external import External
from indexer.interpret.made import Made
from indexer.interpret.marks import takes_unknown
from indexer.interpret.signals import UNCATCHABLE, UnknownEscaped, Unsupported
from indexer.interpret.unknown import Unknown, contains_unknown, is_about_unknown, is_identical, negate

if TYPE_CHECKING:
    from indexer.interpret.modules import ModuleState, Program


class Runtime:
    """The helpers and builtins of one program."""

    def __init__(self, program: Program, world: Any) -> None:
        self.program = program
        self.world = world
        calls = Calls()
        self.tick, self.call = calls.tick, calls.call
        self.attributes = Attributes(world, self.call)
        self.classes = Classes(world)
        self.builtins = self._builtins()
        self.frame_builtins = {
            "__build_class__": self.classes.build,
            "__import__": self._refuse("__import__"),
        }
        self._shared = {
            "@call": self.call,
            "@forbidden": self.attributes.forbidden,
            "@attribute": self.attributes.guarded,
            "@__getattribute__": self.attributes.native_read,
            "@__setattr__": self.attributes.native_write,
            "@store": self.attributes.storable,
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
            "@genuine": genuine,
            "@AssertionError": AssertionError,
            "@decorator": self.decorator,
            "@made": self.made,
            "@wrote": self.wrote,
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

    def made(self, value: dict[str, Any], lines: dict[str, int], returned: bool) -> dict[str, Any]:
        """Note where the entries of a dictionary are written that is returned or given a name."""
        code = sys._getframe(1).f_code
        self.world.made.append(Made(code.co_filename[1:], code.co_qualname, lines, value, returned))
        return value

    def wrote(self, value: Any, key: str, line: int) -> None:
        """Note where one entry of a dictionary was written."""
        if type(value) is dict:
            code = sys._getframe(1).f_code
            self.world.made.append(Made(code.co_filename[1:], code.co_qualname, {key: line}, value))

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
                if crossed_interpreted_frame(error):
                    raise
                found = contains_unknown(value)
                unknown = unknown or found or Unknown(f"text of {error.unknown!r}")
                pieces.append("{?}")
            except TypeError as error:
                if not is_about_unknown(error):
                    raise
                unknown = unknown or unknown_text(value)
                pieces.append("{?}")
        if unknown is not None:
            return unknown._rt_derive("".join(pieces))
        return "".join(pieces)

    @staticmethod
    def known(value: Any) -> Any:
        if type(value) is Unknown:
            raise UnknownEscaped(value, "match")
        return value

    def iterator(self, *args: Any) -> Any:
        """``iter``; the calls of its second form are paid from the path's budget."""
        if len(args) != 2:
            return iter(*args)
        function, sentinel = args
        return iter(lambda: self.call(function), sentinel)

    # -- builtins ---------------------------------------------------------------------------------

    def _globals(self) -> Any:
        frame: Any = sys._getframe(1)
        while frame.f_code.co_filename[:1] != MARK:
            frame = frame.f_back
        return self.program.names_of(frame.f_globals)

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
            "isinstance": takes_unknown(self.classes.is_instance),
            "issubclass": takes_unknown(self.classes.is_subclass),
            "getattr": takes_unknown(self.attributes.get),
            "hasattr": takes_unknown(self.attributes.has),
            "setattr": takes_unknown(self.attributes.set),
            "delattr": takes_unknown(self.attributes.delete),
            "range": safety.bounded_range,
            "iter": self.iterator,
            "pow": safety.power,
            "print": takes_unknown(lambda *args, **kwargs: None),
            "vars": takes_unknown(self.attributes.members),
            "open": takes_unknown(lambda *args, **kwargs: self.world.open(*args, **kwargs)),
            "globals": self._globals,
            "id": takes_unknown(host_builtins.id),
            "bool": bool,
            "__debug__": True,
        }
        for name in ("eval", "exec", "compile", "locals", "input", "breakpoint"):
            offered[name] = self._refuse(name)
        offered["__import__"] = takes_unknown(lambda name, *rest, **kwargs: self.program.import_module(name))
        return offered


def genuine() -> None:
    """Refuse to handle an error that was raised only because a value is not known.

    Raises:
        Unsupported: the error being handled is such a one.
    """
    error = sys.exc_info()[1]
    if error is not None and is_about_unknown(error):
        raise Unsupported(f"{type(error).__name__}: {error}") from error


def _identity(target: Any) -> Any:
    return target
