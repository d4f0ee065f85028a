"""Importing Whoosh without what its modules import and a search never calls.

The network (for a function that fetches test data), asyncio (for properties that are coroutines) and a
table of English word forms take a third of the time of a whole search.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType


def _not_loaded(*arguments: object) -> None:
    raise NotImplementedError("left out when Whoosh was imported: nothing of ours calls it")


_LEFT_OUT: dict[str, dict[str, Callable[..., object]]] = {
    "urllib.request": {"urlretrieve": _not_loaded},
    "cached_property": {"cached_property": functools.cached_property},
    "whoosh.lang.morph_en": {"variations": _not_loaded},
}
"""Modules, and the names that Whoosh takes from them."""


@contextmanager
def lean_imports() -> Iterator[None]:
    """Let the imports of the block find stand-ins for modules that are not loaded yet; no others see them."""
    stand_ins = {name: ModuleType(name) for name in _LEFT_OUT if name not in sys.modules}
    for name, module in stand_ins.items():
        vars(module).update(_LEFT_OUT[name])
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
