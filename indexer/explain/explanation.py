"""The answer to "what will SGLang do with this command?"."""

from __future__ import annotations

from typing import Any

import msgspec

from indexer.knowledge.schema import Location

STARTS, REFUSED, UNKNOWN = "starts", "refused", "unknown"
WILL, MAY = "will", "may"
DRAFT_MODEL = "draft model"
"""What an unknown is called that says that a launch names no draft though its algorithm needs one."""

MODEL = "model"
"""What an unknown is called that says that the model's configuration is not at hand."""
TOO_FEW_GPUS = "GPUs of the node"
"""What an unknown is called that says that a launch starts more processes than there are GPUs."""
DRAFT_NOT_LOOKED_UP = "need of a draft model"
"""What an unknown is called that says that the facts of a release, which tell of drafts, are not at hand."""
RESERVATIONS = (DRAFT_MODEL, TOO_FEW_GPUS)
"""Unknowns that belong beside ``starts``: accepted arguments that can't serve."""


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who changed a field: the line that wrote it, and the rule there, if it is known."""

    at: Location
    rule: str | None = None


class Refusal(msgspec.Struct):
    """Why a launch is refused. ``message`` has its values filled in; ``at`` is the line raised at.

    ``certainty`` is ``will`` where every path is refused here, ``may`` where only some are.
    """

    exception: str
    message: str
    at: Location | None
    stage: str
    rule: str | None = None
    certainty: str = WILL


class FieldChange(msgspec.Struct):
    """A field whose resolved value differs from what was asked.

    With certainty ``may`` there are several ``possible`` values and ``resolved`` is one of them.
    """

    asked: Any
    resolved: Any
    certainty: str = WILL
    by: list[Cause] = []
    possible: list[Any] = []


class Logged(msgspec.Struct, omit_defaults=True):
    """A log line or warning, with the line that emits it."""

    level: str
    message: str
    at: Location | None = None
    certainty: str = WILL


class UnknownFact(msgspec.Struct, omit_defaults=True):
    """A fact that would decide something, what depends on it, and where it is asked."""

    what: str
    reason: str
    at: Location | None = None


class StartRefusal(msgspec.Struct, frozen=True):
    """The server would stop after its arguments were accepted: how, with which message, where."""

    exception: str
    message: str
    at: Location
    rule: str | None = None


class StartCheck(msgspec.Struct, omit_defaults=True):
    """Something that a starting server makes, and whether the launch would be refused there.

    ``refusals`` are those of the paths that end in one; on others it is made (``passed``), or what stops
    us is ``open``.
    """

    what: str
    at: Location
    refusals: list[StartRefusal] = []
    passed: bool = False
    open: str = ""

    @property
    def refused(self) -> bool:
        """Whether the server stops here on every path."""
        return bool(self.refusals) and not self.passed and not self.open


class Explanation(msgspec.Struct):
    """What a version makes of a launch: ``starts``, ``refused``, or ``unknown``.

    ``fields`` are those whose value differs from what was asked; ``speculative`` are all resolved values
    of speculative decoding that are certain.
    """

    version: str
    outcome: str
    refusal: Refusal | None = None
    refusals: list[Refusal] = []
    fields: dict[str, FieldChange] = {}
    events: list[Logged] = []
    unknowns: list[UnknownFact] = []
    assumed: list[str] = []
    paths: int = 1
    id: str | None = None
    speculative: dict[str, Any] = {}

    @property
    def looked_up(self) -> bool:
        """Whether all was asked that tells if an accepted launch can serve."""
        return all(fact.what != DRAFT_NOT_LOOKED_UP for fact in self.unknowns)

    @property
    def reservations(self) -> list[UnknownFact]:
        """Why a launch whose arguments are accepted can't serve."""
        return [fact for fact in self.unknowns if fact.what in RESERVATIONS]
