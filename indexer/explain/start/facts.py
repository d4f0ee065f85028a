"""What is said about the memory of the recurrent state."""

from __future__ import annotations

import msgspec

from indexer.knowledge.schema import Location

GIB = 1 << 30


class Sized(msgspec.Struct, omit_defaults=True):
    """What the release makes of one amount of memory, per GPU.

    ``rest_gib`` is what is left for all pools, ``slots`` the state slots it allocates, ``beside_bytes``
    what it takes beside them (states per draft token, padding), ``requests`` how many requests the state
    allows to run at once (None where that isn't known), ``left_gib`` what remains for the KV cache. With
    a ``refusal`` (its message) the server would stop.
    """

    rest_gib: float
    slots: int | None = None
    beside_bytes: int | None = None
    requests: int | None = None
    left_gib: float | None = None
    refusal: str | None = None


class StateMemory(msgspec.Struct, omit_defaults=True):
    """The recurrent state of one launch, in bytes per GPU.

    ``conv`` and ``temporal`` are the shapes of one layer's state in one slot, ``layers`` how many layers
    keep one. ``slots_per_request`` is None where the release has no such number. ``running`` is the
    resolved limit of running requests, ``static_gib`` GPU memory times the resolved fraction.
    ``one_more`` is the first of ``sized`` again with one draft token more. ``places`` are the functions
    that were run, by what they say. ``unknown`` tells what stopped the sizing.
    """

    config_class: str | None = None
    conv: list[list[int]] = []
    temporal: list[int] = []
    conv_dtype: str = ""
    temporal_dtype: str = ""
    layers: int = 0
    slot_bytes: int | None = None
    slots_per_request: int | None = None
    draft_tokens: int | None = None
    running: int | None = None
    gpu_gib: float | None = None
    fraction: float | None = None
    static_gib: float | None = None
    ratio: float | None = None
    sized: list[Sized] = []
    one_more: Sized | None = None
    places: dict[str, Location] = {}
    unknown: list[str] = []
