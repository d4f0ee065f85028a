"""Options that messages and help texts speak of but the parser does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from indexer.knowledge.schema import Location, Snapshot

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?![\w*-])")
_OTHER_PROGRAM = re.compile(r"\b(?:pip3?|uv|docker|git|apt|ldconfig)\s+[^`'\"\n;]*")
_NEAR = 80.0


class Ghost(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option string named in ``said_in`` (``rule:ID`` or ``flag:NAME``) that no flag has.

    ``nearest`` is the option that was probably meant. ``abbreviates`` tells that argparse accepts the
    spelling all the same, as an unambiguous beginning of ``nearest``.
    """

    option: str
    said_in: str
    at: Location
    nearest: str | None = None
    abbreviates: bool = False


def ghost_options(snapshot: Snapshot) -> list[Ghost]:
    """Return every mention of an option that does not exist, by option and place.

    Without flags in the snapshot nothing can be told: the answer is empty.
    """
    known = {option for flag in snapshot.flags for option in flag.option_strings}
    if not known:
        return []
    found: dict[tuple[str, str], Ghost] = {}
    for said_in, text, at in _texts(snapshot):
        for match in _OPTION.finditer(_OTHER_PROGRAM.sub(" ", text)):
            option = match.group(0)
            if option not in known and option.replace("_", "-") not in known:
                found.setdefault((option, said_in), _ghost(option, said_in, at, known))
    return sorted(found.values(), key=lambda one: (one.option, one.at.path, one.at.line, one.said_in))


def _texts(snapshot: Snapshot) -> Iterator[tuple[str, str, Location]]:
    for rule in snapshot.rules:
        if rule.message and rule.kind != "override":
            yield f"rule:{rule.id}", rule.message, rule.at
    for flag in snapshot.flags:
        at = flag.declared_at or flag.registered_at
        if isinstance(flag.help, str) and at is not None:
            yield f"flag:{flag.name}", flag.help, at


def _ghost(option: str, said_in: str, at: Location, known: set[str]) -> Ghost:
    begun = [one for one in known if one.startswith(option)]
    if len(begun) == 1:
        return Ghost(option, said_in, at, begun[0], abbreviates=True)
    from rapidfuzz import fuzz, process

    nearest = process.extractOne(option, sorted(known), scorer=fuzz.ratio, score_cutoff=_NEAR)
    return Ghost(option, said_in, at, nearest[0] if nearest else None)
