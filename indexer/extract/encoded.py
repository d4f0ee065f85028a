"""Values of interpreted code as JSON data."""

from __future__ import annotations

import enum
from typing import Any

from indexer.interpret.unknown import Unknown
from indexer.knowledge.schema import Unknown as UnknownValue

_LARGEST = 1 << 63
"""JSON readers, ours among them, hold whole numbers in 64 bits."""


def _shown(number: int) -> str:
    try:
        return repr(number)
    except ValueError:  # more digits than Python prints
        return f"an integer of {number.bit_length()} bits"


def encode(value: Any) -> Any:
    """Return a JSON value, or ``{"repr": ...}`` for what JSON can't carry unchanged."""
    if value is None or isinstance(value, bool):
        return value
    if type(value) is Unknown:
        return UnknownValue(value._rt_text)
    if isinstance(value, enum.Enum):
        extra = {"value": value.value} if isinstance(value.value, (str, int, float)) else {}
        return {"repr": repr(value), "enum": type(value).__name__, "name": value.name, **extra}
    if type(value) is str:
        return value
    if type(value) is int:
        return value if -_LARGEST < value < 2 * _LARGEST else {"repr": _shown(value)}
    if type(value) is float:
        finite = value == value and value not in (float("inf"), float("-inf"))
        return value if finite else {"repr": repr(value)}
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {key: encode(item) for key, item in value.items()}
    if type(value) is tuple:
        return {"repr": repr(value), "tuple": [encode(item) for item in value]}
    if isinstance(value, (set, frozenset)):
        return {"repr": "set", "set": sorted((encode(item) for item in value), key=repr)}
    return {"repr": repr(value)}
