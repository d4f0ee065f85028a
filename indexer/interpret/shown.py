"""The text of a configuration, made once for all launches of a tree.

transformers logs every configuration that it makes, beside the defaults of its class: half of the time that
making one takes. The same attributes of the same class give the same text.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from indexer.interpret.transformers_tree import PACKAGE

CONFIGURATIONS = f"{PACKAGE}.configuration_utils"
_PLAIN = (str, int, float, bool, type(None))
_texts: WeakKeyDictionary[Any, dict[Any, str]] = WeakKeyDictionary()


class _NotPlain(Exception):
    """A configuration holds more than plain values and configurations: its text is made anew."""


def keep_texts(cls: type, program: Any) -> None:
    """Let a class of configurations, and those derived from it, make the text of equal ones once."""
    make = vars(cls).get("__repr__")
    if make is None:
        return
    texts = _texts.setdefault(program.whole_tree, {})
    world = program.world

    def __repr__(self: Any) -> str:
        try:
            key = (program.versions, _state(self, cls))
        except _NotPlain:
            return make(self)
        text = texts.get(key)
        if text is None:
            said = len(world.events)
            text = make(self)
            if type(text) is str and len(world.events) == said:
                texts[key] = text
        return text

    type.__setattr__(cls, "__repr__", __repr__)


def _state(value: Any, cls: type, depth: int = 0) -> Any:
    """Return what a value's text hangs on, for comparing.

    Raises:
        _NotPlain: it has parts that can't be compared.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, repr(value) if kind is float else value
    if depth > 8:
        raise _NotPlain
    if kind in (list, tuple):
        return kind, tuple(_state(one, cls, depth + 1) for one in value)
    if kind is dict:
        return kind, tuple((_state(k, cls), _state(v, cls, depth + 1)) for k, v in value.items())
    if issubclass(kind, cls):
        held = object.__getattribute__(value, "__dict__")
        return kind.__module__, kind.__qualname__, _state(dict(held), cls, depth + 1)
    raise _NotPlain
