"""The outside world of one launch: environment, machine, installed packages, files, log.

Interpreted code reaches it only through the modules handed out here. Whatever the ``Launch`` doesn't
say is ``Unknown`` with its reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from indexer.interpret import host, stdlib
from indexer.interpret.compiled import MARK
from indexer.interpret.external import External, ExternalBase
from indexer.interpret.filesystem import FileSystem
from indexer.interpret.host import HostModule
from indexer.interpret.launch import Launch
from indexer.interpret.machine import machine_intrinsics, machine_questions, machine_values
from indexer.interpret.made import Made
from indexer.interpret.marks import is_interpreted_class
from indexer.interpret.osmodules import os_overrides
from indexer.interpret.regex_module import regex_intrinsics, regex_values
from indexer.interpret.shown import CONFIGURATIONS, keep_texts
from indexer.interpret.signals import Unsupported
from indexer.interpret.transformers_tree import external_intrinsics
from indexer.interpret.unknown import Unknown


class Event:
    """Something interpreted code logged or warned, with the line that did."""

    __slots__ = ("level", "line", "path", "text")

    def __init__(self, level: str, text: Any, path: str, line: int) -> None:
        self.level, self.text, self.path, self.line = level, text, path, line


def interpreted_caller() -> tuple[str, int, str]:
    """Return (path, line, function) of the innermost interpreted frame on the stack."""
    frame = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename[:1] == MARK:
            return filename[1:], frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0, ""


REAL_PACKAGES = frozenset({"msgspec", "packaging", "yaml"})
"""Third-party packages whose pure parts are run for real (records, versions, YAML)."""


class World:
    """Answers every question interpreted code has about the outside."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.events: list[Event] = []
        self.parser_message: str | None = None
        self.on_parsed: Callable[[dict[str, Any]], None] | None = None
        self.made: list[Made] = []
        self.arguments: list[tuple[Any, tuple[str, int, str]]] = []
        self.classes: list[tuple[type, str, tuple[str, str, int]]] = []
        self.unlisted_calls: dict[str, int] = {}
        self.files = FileSystem(launch)
        self._externals: dict[str, External] = {}
        self._bases: dict[str, type] = {}
        self._modules: dict[str, Any] = {}
        self._intrinsics: dict[str, Callable[..., Any]] = {}
        self._values: dict[str, Any] = {}
        self._absent: set[str] = set()

    def attach(self, program: Any) -> None:
        """Tie the world to the program whose outside it is."""
        self.program = program
        self._overrides = stdlib.overrides(self, program) | os_overrides(self, program)
        self._intrinsics |= machine_intrinsics(self) | external_intrinsics(self)
        self._intrinsics["orjson.loads"] = stdlib.load_json  # the same values, read faster
        self._intrinsics |= regex_intrinsics()
        self._values |= regex_values()
        self._questions = machine_questions(self)
        values, absent = machine_values(self)
        self._values |= values
        self._absent |= absent

    def know(self, values: dict[str, Any], calls: dict[str, Callable[..., Any]]) -> None:
        """Add what is known of third-party packages: attributes by dotted name, and what calls give."""
        self._values |= values
        self._intrinsics |= calls

    # -- externals --------------------------------------------------------------------------------

    def external(self, path: str) -> Any:
        """Return the opaque name of a third-party thing; the same object each time."""
        if path in self._values:
            return self._values[path]
        if path in self._questions:
            value = self._values[path] = self._questions[path]()
            return value
        found = self._externals.get(path)
        if found is None:
            found = self._externals[path] = External(path, self)
        return found

    def external_attribute(self, owner: External, name: str) -> Any:
        path = f"{owner._rt_path}.{name}"
        if path in self._absent:
            raise AttributeError(f"module '{owner._rt_path}' has no attribute '{name}'")
        if name == "__name__":
            return owner._rt_path.rpartition(".")[2]
        if name == "__version__":
            return self.package_version(owner._rt_path.partition(".")[0])
        return self.external(path)

    def external_has(self, owner: External, name: str) -> bool | None:
        """Tell whether a third-party thing has an attribute; None where that isn't known."""
        path = f"{owner._rt_path}.{name}"
        if path in self._absent:
            return False
        if path in self._values or path in self._intrinsics or path in self._questions:
            return True
        if path.startswith(("torch.ops.", "torch.library.Library().")):
            return False  # custom operators: none is registered before the tree registers its own
        return self.program.defines_externally(owner._rt_path, name)

    def external_call(self, function: External, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        path = function._rt_path
        intrinsic = self._intrinsics.get(path)
        if intrinsic is not None:
            return intrinsic(*args, **kwargs)
        self.unlisted_calls[path] = self.unlisted_calls.get(path, 0) + 1
        where = interpreted_caller()
        return Unknown(f"{path}()", (f"{path}()",), ("call", path, where[:2], len(self.unlisted_calls)))

    def external_decorator(self, decorator: Any) -> Any:
        """Return what a third-party decorator does, or None for "keeps what it decorates"."""
        if type(decorator) is External:
            return self._intrinsics.get(f"@{decorator._rt_path}")
        return None

    def external_base(self, external: External) -> type:
        """Return the stand-in for a third-party base class."""
        path = external._rt_path
        known = self._bases.get(path)
        if known is None:
            if path in self._values and isinstance(self._values[path], type):
                known = self._values[path]
            else:
                name = path.rpartition(".")[2] or "External"
                known = type(name, (ExternalBase,), {"__getattr__": _base_attribute(path), "_rt_path": path})
            self._bases[path] = known
        return known

    def external_is_instance(self, value: External, kind: Any) -> Any:
        if kind in (str, int, float, bool, list, dict, tuple, set, type(None)):
            return False
        if is_interpreted_class(kind):
            return False  # a name of a third party's is not an instance of a class of the tree's
        return Unknown(f"isinstance({value}, {getattr(kind, '__name__', kind)})")

    # -- importing --------------------------------------------------------------------------------

    def import_module(self, dotted: str) -> Any:
        """Return what ``import dotted`` gives outside the trees.

        Raises:
            ModuleNotFoundError: the package is known not to be installed.
        """
        found = self._modules.get(dotted)
        if found is None:
            found = self._modules[dotted] = self._make_module(dotted)
        return found

    def _make_module(self, dotted: str) -> Any:
        top = dotted.partition(".")[0]
        if host.is_standard(top):
            return HostModule(dotted, self, self._overrides.get(dotted, {}))
        present = self.package_present(top)
        if type(present) is Unknown:
            present = bool(present)
        if not present or f"{dotted}" in self._absent:
            raise ModuleNotFoundError(f"No module named '{dotted if present else top}'", name=dotted)
        if dotted in self._overrides or top in REAL_PACKAGES:
            return self._real_package(dotted)
        return self.external(dotted)

    def _real_package(self, dotted: str) -> Any:
        from indexer.interpret.packages import package_values

        values = package_values(dotted)
        if values is None:
            return self.external(dotted)
        values = values | self._overrides.get(dotted, {})
        return _PackageModule(dotted, self, values)

    def import_from(self, module: Any, name: str) -> Any:
        """Return what ``from module import name`` binds outside the trees."""
        try:
            return getattr(module, name)
        except AttributeError:
            dotted = getattr(module, "_rt_name", None) or getattr(module, "_rt_path", "?")
            try:
                return self.import_module(f"{dotted}.{name}")
            except ModuleNotFoundError:
                raise ImportError(f"cannot import name '{name}' from '{dotted}'", name=dotted) from None

    def package_present(self, name: str) -> Any:
        """Tell whether a third-party package can be imported; unknown where the launch doesn't say."""
        packages = self.launch.packages
        for candidate in (name, name.replace("_", "-")):
            if candidate in packages:
                return packages[candidate] is not None
        if self.launch.packages_complete and name.replace("-", "_") not in self.launch.packages_unknown:
            return False
        return Unknown(f"whether package {name} is installed", (f"package {name}",))

    def package_version(self, name: str) -> Any:
        """Return a package's version; unknown where the launch doesn't say."""
        packages = self.launch.packages
        for candidate in (name, name.replace("_", "-")):
            if candidate in packages and packages[candidate] is not None:
                return packages[candidate] or Unknown(f"version of {name}", (f"package {name}",))
        return Unknown(f"version of {name}", (f"package {name}",))

    # -- what the program does --------------------------------------------------------------------

    def class_created(self, cls: type, module: str, site: tuple[str, str, int]) -> None:
        self.classes.append((cls, module, site))
        if module == CONFIGURATIONS:
            keep_texts(cls, self.program)

    def parsed(self, namespace: Any) -> None:
        """Note what the server's parser made of the command, before anything resolves it."""
        if self.on_parsed is not None:
            self.on_parsed(dict(vars(namespace)))

    def argument_added(self, action: Any) -> None:
        self.arguments.append((action, interpreted_caller()))

    def log(self, level: str, message: Any, args: tuple[Any, ...] = ()) -> None:
        """Record a log line, formatted as ``logging`` would."""
        text = message
        if args and isinstance(message, str):
            try:
                text = self.program.runtime.modulo(message, args if len(args) != 1 else args[0])
            except (TypeError, ValueError, KeyError):
                text = message
        path, line, _ = interpreted_caller()
        self.events.append(Event(level, text if type(text) in (str, Unknown) else str(text), path, line))

    def open(self, *args: Any, **kwargs: Any) -> Any:
        return self.files.open(*args, **kwargs)


class _PackageModule(HostModule):
    """A third-party package of which some names are the real ones."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in self._rt_stored:
            return self._rt_stored[name]
        if name in self._rt_overrides:
            return self._rt_overrides[name]
        if name == "__version__":
            return self._rt_world.package_version(self._rt_name)
        if name.startswith("_rt_") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        from indexer.interpret.packages import package_values

        child = f"{self._rt_name}.{name}"
        if package_values(child) is not None:
            return self._rt_world.import_module(child)
        return self._rt_world.external(child)


def _base_attribute(path: str) -> Callable[[Any, str], Any]:
    def missing(self: Any, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Unknown(f"attribute {name} of {path}")

    return missing


def refuse(reason: str) -> Callable[..., Any]:
    """Return a function that ends the path when it is called."""

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise Unsupported(reason)

    return refused
