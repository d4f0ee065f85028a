"""Stand-ins for Python's standard library: what interpreted code gets when it imports it.

A module listed in ``PURE`` is handed out attribute by attribute (never its submodules); for any other
module every attribute is an opaque ``External``. Values that depend on the machine come from the
``World``.
"""

from __future__ import annotations

import importlib
import sys
import types
from functools import cache
from typing import Any

PURE: dict[str, frozenset[str]] = {
    # module: attributes that are nevertheless not handed out as they are
    name: frozenset(closed.split())
    for name, closed in {
        "abc": "",
        "array": "",
        "base64": "",
        "binascii": "",
        "bisect": "",
        "calendar": "main different_locale LocaleTextCalendar LocaleHTMLCalendar",
        "cmath": "",
        "collections": "",
        "collections.abc": "",
        "contextlib": "chdir redirect_stdout redirect_stderr",
        "dataclasses": "make_dataclass exec",  # exec: ours, while a dataclass is made
        "datetime": "",
        "decimal": "DefaultContext BasicContext ExtendedContext",
        "difflib": "",
        "enum": "bltns global_enum global_enum_repr global_flag_repr",
        "fractions": "",
        "functools": "singledispatch singledispatchmethod",
        "graphlib": "",
        "hashlib": "file_digest",
        "heapq": "",
        "hmac": "",
        "html": "",
        "http": "",
        "ipaddress": "",
        "itertools": "",
        "json": "",
        "keyword": "",
        "math": "comb factorial perm",
        "numbers": "",
        "operator": "attrgetter methodcaller",
        "posixpath": "exists isfile isdir islink lexists getsize getmtime realpath expanduser expandvars",
        "re": "",
        "statistics": "",
        "string": "Formatter",
        "struct": "",
        "textwrap": "",
        "types": "FunctionType CodeType FrameType CellType ModuleType LambdaType",
        "typing": "get_type_hints ForwardRef",
        "unicodedata": "",
        "urllib.parse": "",
        "weakref": "proxy",  # would stand for what it hides
        "zlib": "",
    }.items()
}

ONLY: dict[str, frozenset[str]] = {
    # module: the only attributes handed out
    "ast": frozenset({"literal_eval"}),
    "argparse": frozenset(
        {
            *("Action", "Namespace", "ArgumentError", "ArgumentTypeError", "BooleanOptionalAction"),
            *("HelpFormatter", "ArgumentDefaultsHelpFormatter", "MetavarTypeHelpFormatter"),
            *("RawDescriptionHelpFormatter", "RawTextHelpFormatter", "SUPPRESS", "OPTIONAL"),
            *("ZERO_OR_MORE", "ONE_OR_MORE", "PARSER", "REMAINDER", "_AppendAction", "_CountAction"),
            *("_AppendConstAction", "_HelpAction", "_StoreAction", "_StoreConstAction"),
            *("_StoreFalseAction", "_StoreTrueAction", "_VersionAction"),
        }
    ),
    "inspect": frozenset(
        {
            *("Parameter", "Signature", "signature", "cleandoc", "getdoc", "isabstract", "isawaitable"),
            *("isclass", "iscoroutinefunction", "isfunction", "isgeneratorfunction", "ismethod"),
        }
    ),
    "errno": frozenset(dir(importlib.import_module("errno"))),
    "logging": frozenset({"CRITICAL", "DEBUG", "ERROR", "FATAL", "INFO", "NOTSET", "WARN", "WARNING"}),
}


_NEVER_IMPORTED = frozenset(
    {"antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle", "turtledemo"}
)
"""Modules whose import alone prints, opens windows or starts programs; so do all ``__main__``."""


class HostModule:
    """A standard-library module as interpreted code sees it."""

    __slots__ = ("_rt_name", "_rt_overrides", "_rt_stored", "_rt_world")

    def __init__(self, name: str, world: Any, overrides: dict[str, Any]) -> None:
        name = str.__str__(name)  # a text of an interpreted class could compare equal to any module
        for slot, value in (("name", name), ("world", world), ("overrides", overrides), ("stored", {})):
            object.__setattr__(self, f"_rt_{slot}", value)

    def __getattr__(self, name: str) -> Any:
        name = str.__str__(name)
        if name in self._rt_stored:
            return self._rt_stored[name]
        if name in self._rt_overrides:
            return self._rt_overrides[name]
        if name in ("__path__", "__file__", "__all__") or name.startswith("_rt_"):
            raise AttributeError(name)
        module = self._rt_name
        if module.partition(".")[0] in _NEVER_IMPORTED or module.endswith(".__main__"):
            return self._rt_world.external(f"{module}.{name}")
        real = importlib.import_module(module)
        try:
            value = getattr(real, name)
        except AttributeError:
            # A submodule is there once anybody has imported it, and a server imports most of them; whether
            # this program has is no answer.
            child = f"{module}.{name}"
            if child in PURE or child in ONLY or _is_submodule(child):
                return self._rt_world.import_module(child)
            raise AttributeError(f"module '{module}' has no attribute '{name}'") from None
        if isinstance(value, types.ModuleType):
            return self._rt_world.import_module(f"{module}.{name}")
        if module in PURE and name not in PURE[module] and not name.startswith("_"):
            # What is shared with the host program and can be changed is copied.
            return value.copy() if type(value) in (list, dict, set) else value
        if name in ONLY.get(module, ()):
            return value
        return self._rt_world.external(f"{module}.{name}")

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # else the memo would hand out what is behind it

    def __setattr__(self, name: str, value: Any) -> None:
        self._rt_stored[name] = value

    def __repr__(self) -> str:
        return f"<module '{self._rt_name}'>"


@cache
def _is_submodule(dotted: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(dotted) is not None
    except (ImportError, ValueError):
        return False


def is_standard(name: str) -> bool:
    """Tell whether a top-level module belongs to the standard library."""
    return name in sys.stdlib_module_names
