"""Finding what was renamed between two versions, with the evidence. Nothing is listed by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import TypeVar

import msgspec

from indexer.knowledge.facts import DeprecationFact, EnvFact, Facts, FlagFact
from indexer.knowledge.schema import Location

LIKELY_SCORE = 75
"""How similar two names must be (0 to 100, by their words) for a likely rename."""

Fact = TypeVar("Fact", FlagFact, EnvFact)

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_OPPOSITES = frozenset({"enable", "disable", "no", "not", "skip", "without", "max", "min"})
_BRACES = re.compile(r"\{([^{}]*)\}")


class FoundRename(msgspec.Struct, frozen=True):
    """``old`` (an option string or variable of the older version) gave way to ``new``.

    ``how`` is the evidence: ``deprecated``, ``alias``, ``message``, ``dest`` or ``likely`` (see
    ``history_file.Rename``). ``text`` is what the tree says to use, where that is more than ``new`` (a
    value with it). ``old_at`` lies in the older version; ``new_at`` in the newer, where the replacement
    is declared (``message``: where the message is). ``since`` is the newer version.
    """

    kind: str
    old: str
    new: str
    how: str
    old_at: Location | None = None
    new_at: Location | None = None
    text: str | None = None
    since: str | None = None


def find_renames(old: Facts, new: Facts) -> list[FoundRename]:
    """Return the renames that happened between ``old`` and ``new`` (not those known before)."""
    found = [*_flag_renames(old, new), *_env_renames(old, new)]
    return [msgspec.structs.replace(one, since=new.version) for one in found]


def named_options(replacement: str | None) -> list[str]:
    """Return the option strings in a replacement text, braces spelled out.

    ``--a-{x,y}=off`` names ``--a-x`` and ``--a-y``.
    """
    if not replacement:
        return []
    pieces = _BRACES.split(replacement)
    alternatives = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
    spelled = ("".join(parts) for parts in product(*alternatives))
    return list(dict.fromkeys(match[0] for text in spelled if (match := _OPTION.search(text))))


def _flag_renames(old: Facts, new: Facts) -> Iterator[FoundRename]:
    before, after = old.option_to_flag(), new.option_to_flag()
    explained: set[str] = set()

    def rename(option: str, target: str, how: str, text: str | None = None) -> FoundRename:
        explained.add(option)
        old_at = before[option].declared_at if option in before else None
        more = text if text != target else None
        return FoundRename("flag", option, target, how, old_at, after[target].declared_at, more)

    for option, flag in before.items():
        successor = after.get(option)
        if successor is None or successor.deprecated is None:
            continue
        text = successor.deprecated.replacement
        for target in _stated_anew(flag.deprecated, text):
            if target in after and target != option:
                yield rename(option, target, "deprecated", text)
    known = {(one.old, one.new) for one in old.replacements}
    for one in new.replacements:
        if one.old in before and (one.old, one.new) not in known and one.old not in explained:
            yield msgspec.structs.replace(rename(one.old, one.new, "message", one.text), new_at=one.at)
    for option, flag in before.items():
        if option in explained:
            continue
        successor = after.get(option)
        if successor is not None:
            if option == flag.option_strings[0] and (primary := _new_primary(option, successor, before)):
                yield rename(option, primary, "alias")
            continue
        surviving = [other for other in flag.option_strings if other in after]
        if surviving:
            yield rename(option, surviving[0], "alias")
            continue
        heirs = [other for other in new.flags if other.dest == flag.dest and not other.deprecated]
        if len(heirs) == 1:
            yield rename(option, heirs[0].option_strings[0], "dest")
    removed = [f for f in old.flags if not any(o in after or o in explained for o in f.option_strings)]
    added = [f for f in new.flags if not any(o in before for o in f.option_strings)]
    for gone, heir in _likely(removed, added):
        yield rename(gone.option_strings[0], heir.option_strings[0], "likely")


def _stated_anew(was: DeprecationFact | None, text: str | None) -> list[str]:
    known = named_options(was.replacement) if was else []
    return [target for target in named_options(text) if target not in known]


def _new_primary(option: str, successor: FlagFact, before: dict[str, FlagFact]) -> str | None:
    """Return the spelling that came up as a flag's first while ``option`` stayed as its alias."""
    primary = successor.option_strings[0]
    return primary if primary != option and primary not in before else None


def _env_renames(old: Facts, new: Facts) -> Iterator[FoundRename]:
    before = {variable.name: variable for variable in old.env_vars}
    after = {variable.name: variable for variable in new.env_vars}
    options = new.option_to_flag()
    explained = set()
    known = {(one.old, one.new) for one in old.replacements}
    for one in new.replacements:
        was = before.get(one.old)
        if was is not None and (one.old, one.new) not in known:
            explained.add(one.old)
            more = one.text if one.text != one.new else None
            yield FoundRename("env", one.old, one.new, "message", _at(was), one.at, more)
    for name, variable in after.items():
        target = variable.deprecated.replacement if variable.deprecated else None
        was = before.get(name)
        if target is None or (was and was.deprecated and was.deprecated.replacement == target):
            continue
        flags = [options[one] for one in named_options(target) if one in options]
        if target in after:
            explained.add(name)
            at = was.declared_at if was else None
            yield FoundRename("env", name, target, "deprecated", at, _at(after[target]))
        elif len(flags) == 1 and name not in explained:
            explained.add(name)
            at, option = (was.declared_at if was else None), named_options(target)[0]
            more = target if target != option else None
            yield FoundRename("env", name, option, "deprecated", at, flags[0].declared_at, more)
    removed = [v for n, v in before.items() if n not in explained and v.declared and not _declared(after, n)]
    added = [v for n, v in after.items() if v.declared and not _declared(before, n)]
    for gone, heir in _likely(removed, added):
        yield FoundRename("env", gone.name, heir.name, "likely", gone.declared_at, heir.declared_at)


def _declared(variables: dict[str, EnvFact], name: str) -> bool:
    return name in variables and variables[name].declared


def _at(variable: EnvFact) -> Location | None:
    return variable.declared_at or variable.read_at


def _likely(removed: list[Fact], added: list[Fact]) -> Iterator[tuple[Fact, Fact]]:
    """Pair what is gone with the one new fact of equal shape whose name is most similar."""
    if not removed or not added:
        return
    from rapidfuzz.fuzz import token_sort_ratio

    scored = []
    for gone in removed:
        for heir in added:
            if _shape(gone) == _shape(heir) and _polarity(gone.name) == _polarity(heir.name):
                score = token_sort_ratio(_words(gone.name), _words(heir.name))
                if score >= LIKELY_SCORE:
                    scored.append((-score, gone.name, heir.name, gone, heir))
    taken: set[str] = set()
    for _, gone_name, heir_name, gone, heir in sorted(scored, key=lambda one: one[:3]):
        if gone_name not in taken and heir_name not in taken:
            taken |= {gone_name, heir_name}
            yield gone, heir


def _shape(fact: FlagFact | EnvFact) -> tuple[object, ...]:
    if isinstance(fact, EnvFact):
        return (fact.type, fact.default)
    return (fact.action, fact.nargs, fact.type, fact.default, fact.choices)


def _polarity(name: str) -> frozenset[str]:
    """The words that turn a name into its opposite: ``enable-x`` never became ``disable-x``."""
    return _OPPOSITES & set(_words(name).split())


def _words(name: str) -> str:
    return " ".join(re.split(r"[-_]+", name.lower()))
