"""Finding one fact by the name a person typed, and saying what was near when there is none."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from typing import Any

from indexer.errors import UsageError
from indexer.knowledge.addresses import KINDS, fact_name, facts_of
from indexer.knowledge.nearest import bare, nearest, normal, plain
from indexer.knowledge.schema import Algorithm, Flag, Model, Rule, Snapshot

_SUGGESTIONS = 3
LABELS = {"env": "environment variable", "path": "code path"}
"""What kinds are called in a sentence, where not by their own name."""


def spellings(fact: Any) -> list[str]:
    """Return every name a fact may be asked by: option strings and dest, aliases, its own name."""
    if isinstance(fact, Flag):
        return [fact.name, *fact.option_strings, fact.dest, *([fact.field] if fact.field else [])]
    if isinstance(fact, Algorithm):
        return [fact.name, *(alias.name for alias in fact.aliases)]
    return [fact_name(fact)]


def find_facts(snapshot: Snapshot, kind: str, name: str) -> list[Any]:
    """Return the facts of ``kind`` that ``name`` means; several when flags share a dest.

    The fact's own name or option wins over a shared dest, any spelling of dashes and case over an
    abbreviation, and that over the same letters cut differently (``eagle-3``, ``tp size``). A flag may be
    abbreviated as argparse allows: a prefix that only one flag has. An option or variable may have its value
    behind it, a rule may be asked for by its place (``speculative_hook.py:1090``).

    Raises:
        UsageError: there is none; the nearest names are told.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind {kind!r}", f"kinds are {', '.join(KINDS)}")
    facts = facts_of(snapshot, kind)
    wanted = normal(bare(name.strip().removeprefix(f"{kind}:")))
    found = (
        [fact for fact in facts if wanted in map(normal, _own_names(fact))]
        or [fact for fact in facts if wanted in map(normal, spellings(fact))]
        or (_abbreviated(facts, wanted) if kind == "flag" else [])
        or (_at_place(facts, wanted) if kind == "rule" else [])
        or [fact for fact in facts if plain(wanted) in map(plain, spellings(fact))]
    )
    if not found:
        raise UsageError(_nothing(snapshot, kind, name, wanted))
    return found


def _abbreviated(facts: list[Flag], wanted: str) -> list[Flag]:
    begun = [fact for fact in facts if any(o.startswith(f"--{wanted}") for o in fact.option_strings)]
    return begun if wanted and len(begun) == 1 else []


def _at_place(rules: list[Rule], wanted: str) -> list[Rule]:
    place = re.fullmatch(r"(.+\.py):(\d+)", wanted)
    if place is None:
        return []
    file, line = f"/{place[1]}", int(place[2])
    return [
        rule
        for rule in rules
        if f"/{normal(rule.at.path)}".endswith(file)
        and rule.at.line <= line <= (rule.at.end_line or rule.at.line)
    ]


def _own_names(fact: Any) -> list[str]:
    return [fact.name, *fact.option_strings] if isinstance(fact, Flag) else [fact_name(fact)]


def _nothing(snapshot: Snapshot, kind: str, name: str, wanted: str) -> str:
    version = snapshot.source.version
    facts = facts_of(snapshot, kind)
    label = LABELS.get(kind, kind)
    if not facts:
        return f"SGLang {version}: no {label} is known in this snapshot"
    message = f"SGLang {version} has no {label} {name!r}"
    other, colon, rest = name.partition(":")
    if colon and other in KINDS and other != kind:
        return f"{message}; it names another kind: indexer show {other} {rest}"
    from indexer.knowledge.elsewhere import elsewhere, names_elsewhere

    gone = elsewhere(kind, wanted, version)
    if gone is not None:
        return f"{message}: {gone.told}; see: {gone.command}"
    if kind == "model" and "/" in name:
        return f"{message}; {_about_models(name, [fact_name(fact) for fact in facts])}"
    near = nearest(wanted, [spelling for fact in facts for spelling in spellings(fact)])
    if kind == "rule" and not near and ":" not in wanted:
        near = _rules_of_function(facts, wanted)
    if near:
        return f"{message}; did you mean {', '.join(near)}?"
    others = {one.name: one for one in names_elsewhere(version, kind)}
    if near := nearest(wanted, others, 1):
        return f"{message}; did you mean {near[0]}? {others[near[0]].told}; see: {others[near[0]].command}"
    if kind == "model" and (alike := _of_family(facts, wanted)):
        return f"{message}; that is a state of hybrid models, of {', '.join(alike)}"
    searched = f"`indexer search {shlex.quote(name)}`"
    return f"{message}, and none is like it; `indexer show {kind}` lists them, {searched} finds words"


def _rules_of_function(rules: list[Rule], wanted: str) -> list[str]:
    """Return rules of the function that a name, without what follows its first dash, is nearest to."""
    by_function: dict[str, list[str]] = {}
    for rule in rules:
        by_function.setdefault(rule.id.partition("-")[0], []).append(rule.id)
    near = nearest(wanted, by_function, 1)
    return by_function[near[0]][:_SUGGESTIONS] if near else []


def _of_family(models: list[Model], kind: str) -> list[str]:
    """Return the models whose recurrent state is of a kind (GDN, KDA, ...)."""
    return [
        model.architecture
        for model in models
        if not model.is_draft and model.hybrid and normal(str(model.hybrid.get("kind"))) == kind
    ]


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
