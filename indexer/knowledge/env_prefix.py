"""Environment variables that a release takes under an old prefix: on import it sets the new name.

The table that ships tells it release by release (``env_prefix_build`` reads it from their trees).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

from indexer.knowledge.facts import EnvFact
from indexer.knowledge.schema import Location

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "env_prefixes.json"


class PrefixRewrite(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is done with every variable whose name begins with ``old``: the name that begins with ``new``
    instead is set to its value, whether that was set or not. ``but`` are the names that are left alone,
    ``at`` is the statement."""

    old: str
    new: str
    at: Location
    but: list[str] = []

    def name_for(self, name: str) -> str | None:
        """Return the name that is set from the variable ``name``, None where it is left alone."""
        if not name.startswith(self.old) or name in self.but:
            return None
        return self.new + name.removeprefix(self.old)


class Rewritten(msgspec.Struct, frozen=True):
    """The variable ``name`` that a release sets from an old name, and where. ``use`` is what to write:
    another one where ``name`` is deprecated itself."""

    name: str
    at: Location
    use: str

    @property
    def told(self) -> str:
        """The end of a message about the old name."""
        at = f"({self.at.path}:{self.at.line})"
        if self.use == self.name:
            return f"use {self.use}, which SGLang sets from it {at}"
        return f"use {self.use}: SGLang sets {self.name} from it {at}"


def rewritten(name: str, version: str, known: Callable[[str], EnvFact | None]) -> Rewritten | None:
    """Return the setting that ``version`` sets from a variable which is none of its settings itself.

    ``known`` gives what the version has under a name. None where nothing is set from the variable, or only
    a name that is no setting; also of a version that the table doesn't cover.
    """
    for rewrite in _shipped().get(version, ()):
        new = rewrite.name_for(name)
        if new is None:
            continue
        own, fact = known(name), known(new)
        if own is not None and own.is_setting:
            return None
        if fact is not None and fact.is_setting:
            further = fact.deprecated.replacement if fact.deprecated else None
            return Rewritten(new, rewrite.at, further or new)
    return None


@cache
def _shipped() -> dict[str, list[PrefixRewrite]]:
    return msgspec.json.decode(SHIPPED.read_bytes(), type=dict[str, list[PrefixRewrite]])
