"""The third-party ``regex`` module, as far as it does what ``re`` does.

In its default mode it reads ``re``'s syntax with ``re``'s meaning and adds constructs of its own. A pattern
that ``re`` compiles and that has none of the characters those constructs begin with is therefore run with
``re``; what any other gives stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from indexer.interpret.unknown import Unknown

_SAME = ("match", "search", "fullmatch", "findall", "sub", "subn", "split", "compile")
_FLAGS = {
    name: getattr(re, name) for name in ("I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE")
}
_OF_ITS_OWN = re.compile(
    r"\[\[|\(\?[^:=!]|\\[^dDwWsSbBnrtfv0-9.^$*+?{}\[\]\\|()/\-\"'# ]|&&|\|\||--|~~|\{[^0-9]"
)
"""Where the two modules may differ: set operations, inline flags and groups, letters after a backslash,
fuzzy matching."""


def regex_intrinsics() -> dict[str, Callable[..., Any]]:
    """Return what calls of ``regex`` give, by dotted name."""
    return {f"regex.{name}": _like(name) for name in _SAME}


def regex_values() -> dict[str, Any]:
    """Return the flags of ``regex`` that ``re`` has."""
    return {f"regex.{name}": value for name, value in _FLAGS.items()}


def _like(name: str) -> Callable[..., Any]:
    function = getattr(re, name)

    def call(pattern: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(pattern, str) or _OF_ITS_OWN.search(pattern):
            return Unknown(f"regex.{name} with a pattern of its own syntax")
        try:
            return function(pattern, *args, **options)
        except (re.error, TypeError):  # arguments of its own, too
            return Unknown(f"regex.{name} in a way that re does not take")

    return call
