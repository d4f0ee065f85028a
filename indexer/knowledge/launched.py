"""The models of real launches: what records say was launched, and what it is."""

from __future__ import annotations

import msgspec


class SmallModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """A made model: its architecture and size.

    ``parameters`` is None for a folder without weights: SGLang then fills them in (``--load-format
    dummy``). ``walks`` and ``right`` as in its recipe: greedy output is a fixed walk over the vocabulary;
    how much of its proposals is right by construction (None: nobody knows).
    """

    architecture: str
    layers: int
    hidden_size: int | None = None
    parameters: int | None = None
    walks: bool = False
    right: str | None = None


class UsedModel(msgspec.Struct, omit_defaults=True):
    """A model of some records: as the target or the draft of how many launches, and what it is, if known.

    ``dummy`` counts the launches whose weights SGLang made up.
    """

    name: str
    family: str
    digest: str
    launches: int = 0
    dummy: int = 0
    is_draft: bool = False
    known: SmallModel | None = None
