"""What the models of launch records are: made for the purpose, small, and not trained.

A record names its models by the digest of their files; the shipped table says what has that digest. It is
read without what makes the models needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import msgspec

from indexer.knowledge.launched import SmallModel, UsedModel
from indexer.validate.records import ModelUsed, Record

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "small_models.json"
_DUMMY = ("--load-format", "dummy")


def table(file: Path = SHIPPED) -> dict[str, SmallModel]:
    """Return what made models are, by digest."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, SmallModel])


def models_of(records: Iterable[Record]) -> list[UsedModel]:
    """Return the models that records launched, targets first, each with the launches it was in."""
    known = table()
    found: dict[tuple[bool, str], UsedModel] = {}

    def count(model: ModelUsed, is_draft: bool, dummy: bool) -> None:
        used = found.setdefault(
            (is_draft, model.digest),
            UsedModel(
                model.name, model.family, model.digest, is_draft=is_draft, known=known.get(model.digest)
            ),
        )
        used.launches += 1
        used.dummy += dummy

    for record in records:
        dummy = any(pair == _DUMMY for pair in pairwise(record.command))
        count(record.model, False, dummy)
        if record.draft is not None:
            count(record.draft, True, dummy)
    return sorted(found.values(), key=lambda one: (one.is_draft, -one.launches, one.name))
