"""Finding one fact by the name a person typed, and saying what was near when there is none."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

from indexer.errors import UsageError
from indexer.knowledge.addresses import KINDS, fact_name, facts_of
from indexer.knowledge.nearest import nearest, normal, plain
from indexer.knowledge.schema import Algorithm, Flag, Snapshot

_SUGGESTIONS = 3


def spellings(fact: Any) -> list[str]:
    """Return every name a fact may be asked by: option strings and dest, aliases, its own name."""
    if isinstance(fact, Flag):
        return [fact.name, *fact.option_strings, fact.dest, *([fact.field] if fact.field else [])]
    if isinstance(fact, Algorithm):
        return [fact.name, *(alias.name for alias in fact.aliases)]
    return [fact_name(fact)]


def find_facts(snapshot: Snapshot, kind: str, name: str) -> list[Any]:
    """Return the facts of ``kind`` that ``name`` means; several when flags share a dest.

    The fact's own name or option wins over a shared dest, any spelling of dashes and case over
    an abbreviation. A flag may be abbreviated as argparse allows: a prefix that only one flag has.

    Raises:
        UsageError: there is none; the nearest names are told.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind {kind!r}", f"kinds are {', '.join(KINDS)}")
    facts = facts_of(snapshot, kind)
    wanted = normal(name.removeprefix(f"{kind}:").partition("@")[0])
    exact = [fact for fact in facts if wanted in map(normal, _own_names(fact))]
    found = exact or [fact for fact in facts if wanted in map(normal, spellings(fact))]
    if not found and kind == "flag" and wanted:
        abbreviated = [
            fact for fact in facts if any(o.startswith(f"--{wanted}") for o in fact.option_strings)
        ]
        found = abbreviated if len(abbreviated) == 1 else []
    if not found:
        raise UsageError(_nothing(snapshot, kind, name, wanted))
    return found


def _own_names(fact: Any) -> list[str]:
    return [fact.name, *fact.option_strings] if isinstance(fact, Flag) else [fact_name(fact)]


def _nothing(snapshot: Snapshot, kind: str, name: str, wanted: str) -> str:
    version = snapshot.source.version
    facts = facts_of(snapshot, kind)
    if not facts:
        return f"SGLang {version}: no {kind} is known in this snapshot"
    message = f"SGLang {version} has no {kind} {name!r}"
    from indexer.knowledge.elsewhere import elsewhere

    other = elsewhere(kind, wanted, version)
    if other is not None:
        return f"{message}: {other.told}; see: {other.command}"
    if kind == "model" and "/" in name:
        return f"{message}; {_about_models(name, [fact_name(fact) for fact in facts])}"
    near = nearest(wanted, [spelling for fact in facts for spelling in spellings(fact)])
    if near:
        return f"{message}; did you mean {', '.join(near)}?"
    return f"{message}, and none is like it; `indexer show {kind}` lists them, `indexer search` finds words"


def _about_models(name: str, architectures: list[str]) -> str:
    """Tell how a model is asked for, to someone who gave its name on Hugging Face."""
    told = name.rsplit("/", 1)[-1].casefold()
    family = re.match(r"[a-z]{3,}[\d.]*", told)
    shared = {one: _in_common(plain(told), plain(one)) for one in architectures}
    alike = [one for one in architectures if family and shared[one] >= len(plain(family[0]))]
    alike.sort(key=lambda one: (-shared[one], len(one)))
    hint = f" (perhaps {', '.join(alike[:_SUGGESTIONS])})" if alike else ""
    return f"give the architecture that its config.json names{hint}, or the folder with its config.json"


def _in_common(one: str, other: str) -> int:
    """Return how many letters two names begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
