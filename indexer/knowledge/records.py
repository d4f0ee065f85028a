"""The JSON of each fact: what ``show --json`` prints and the site's JSON twins hold."""

from __future__ import annotations

from typing import Any

import msgspec

from indexer.knowledge.addresses import Fact, address_of, fact_id
from indexer.knowledge.schema import Flag

_FLAG_KEYS = (
    *("option_strings", "dest", "action", "nargs", "const", "default", "type", "choices", "required"),
    *("metavar", "help", "choices_at", "declared_at", "registered_at", "namespace", "deprecated", "fallback"),
)
_FLAG_EXTRAS = (
    *("help_suppressed", "choices_container", "choices_open", "field", "env"),
    *("machine_dependent", "read_at"),
)


def fact_record(version: str, kind: str, fact: Fact) -> dict[str, Any]:
    """Return a fact as JSON values: id, version and address first, then its own keys.

    A flag has argparse's key names, each of them always present; a value that can't be known is
    ``{"unknown": reason, "at": {"path", "line"}}``.
    """
    head = {"id": fact_id(kind, fact), "version": version, "url": address_of(version, kind, fact)}
    if isinstance(fact, Flag):
        return head | _flag_record(fact)
    record = msgspec.to_builtins(fact)
    record.pop("id", None)
    return head | record


def _flag_record(flag: Flag) -> dict[str, Any]:
    record = {key: msgspec.to_builtins(getattr(flag, key)) for key in _FLAG_KEYS}
    extras = {key: msgspec.to_builtins(getattr(flag, key)) for key in _FLAG_EXTRAS}
    return record | {key: value for key, value in extras.items() if value}
