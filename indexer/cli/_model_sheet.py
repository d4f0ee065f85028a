"""A model architecture on one screen: what an engineer asks first, each answer with its place."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

import click

from indexer.cli._terminal import Sheet, place
from indexer.knowledge.links import Links
from indexer.knowledge.pairings import OWN, REFUSED, SEPARATE, Pairing, pairings_of_model
from indexer.knowledge.schema import Algorithm, CodePath, Location, Model, Rule, Value
from indexer.knowledge.values import as_location, plain_form

_COMMON = "python/sglang/srt/"
_STRATEGY = ("mamba_radix_cache_strategy", "mamba_scheduler_strategy")
_AUTOMATIC = ("speculative_num_steps", "speculative_num_draft_tokens", "max_running_requests")
_WORDS = {OWN: "own layers", SEPARATE: "draft checkpoint"}
_DECODE = ("worker", "draft", "verify", "linear", "accept", "commit", "draft-extend")
_MEMORY = ("per-request", "ratio", "size", "state-pool")
_MOST_RULES = 6
_LABEL = 13
_SHORTEST = 14


def print_model(sheet: Sheet, model: Model, links: Links) -> None:
    """Add what is known about a model, within about 40 lines."""
    _class(sheet, model, [one for one in links.snapshot.models if _drafts_with(one, model)])
    _draft(sheet, model)
    pairs = pairings_of_model(links.snapshot, model) if not model.is_draft else []
    _algorithms(sheet, pairs)
    _automatic(sheet, model, [one for one, pairing in pairs if pairing.state == OWN], links)
    _rules(sheet, model)
    if model.hybrid and not model.is_draft:
        _path(sheet, links, "state-memory", "Memory of the recurrent state", _MEMORY)
    own = next((one for one, pairing in pairs if pairing.state == OWN), None)
    decode = _decode_path(links, own) if own is not None and model.hybrid else None
    if decode is not None:
        _path(sheet, links, decode.name, "Decode", _DECODE)
    sheet.lines += [click.style(f"  places are below {_COMMON}; --full shows all", dim=True)]


def _drafts_with(target: Model, draft: Model) -> bool:
    own = [target.draft, *_maps(target.draft.get("also"))] if target.draft else []
    return draft.is_draft and any(one.get("architecture") == draft.architecture for one in own)


def _class(sheet: Sheet, model: Model, targets: list[Model]) -> None:
    entry = [model.entry_class_at] if model.entry_class_at else []
    config = f"config {model.config_class}" if model.config_class else "no config class found"
    _fact(sheet, "class", config, [model.declared_at, *entry])
    if model.is_draft:
        of = f"draft model, of {', '.join(one.architecture for one in targets)}" if targets else "draft model"
        _wrapped(sheet, "role", of)
    hybrid = model.hybrid or {}
    if not hybrid:
        if not model.is_draft:
            _fact(sheet, "hybrid", "no", [])
    else:
        _fact(
            sheet,
            "hybrid",
            f"{hybrid.get('kind')}, by {hybrid.get('predicate')}",
            _at(hybrid, "predicate_at"),
        )
        if hybrid.get("backend"):
            _fact(sheet, "backend", str(hybrid["backend"]), _at(hybrid, "backend_at"))
        for one in _maps(hybrid.get("also")):
            _fact(sheet, "", f"also {one.get('kind')}, by {one.get('predicate')}", _at(one, "predicate_at"))
    radix = model.radix or {}
    if radix:
        strategies = ", ".join(map(plain_form, radix.get("strategies") or [])) or "not supported"
        _fact(sheet, "radix cache", strategies, [])
        _fact(sheet, "", "", _at(radix, "radix", "extra_buffer", "branch_at"))


def _draft(sheet: Sheet, model: Model) -> None:
    draft = model.draft or {}
    for number, one in enumerate([draft, *_maps(draft.get("also"))] if draft else []):
        condition = f" if {one['condition']}" if one.get("condition") else ""
        told = f"{plain_form(one.get('architecture'))}{condition}"
        _fact(sheet, "" if number else "draft class", told, _at(one, "class_at"))
        _fact(sheet, "", "put in the target's place", _at(one, "mapping_at"))


def _algorithms(sheet: Sheet, pairs: list[tuple[Algorithm, Pairing]]) -> None:
    if not pairs:
        return
    _heading(sheet, "Algorithms")
    rest: dict[str, list[str]] = {}
    for algorithm, pairing in pairs:
        aliases = ", ".join(dict.fromkeys(one.name for one in algorithm.aliases))
        name = f"{algorithm.name} ({aliases})" if aliases else algorithm.name
        if pairing.state in (OWN, REFUSED):
            condition = f" if {pairing.condition}" if pairing.condition else ""
            word = _WORDS.get(pairing.state, pairing.state)
            places = [
                *(alias.at for alias in algorithm.aliases[:1]),
                *([pairing.at] if not algorithm.aliases else []),
            ]
            _fact(sheet, name, f"{word}{condition}", places if pairing.state == OWN else [pairing.at])
            for worker in algorithm.workers if pairing.state == OWN else ():
                condition = f" if {worker.condition}" if worker.condition else ""
                _fact(sheet, "", worker.class_name + condition, [worker.class_at])
        else:
            rest.setdefault(_WORDS.get(pairing.state, pairing.state), []).append(name)
        for note in pairing.notes if pairing.state == OWN else ():
            _fact(sheet, "", note.text, [note.at])
    for word, names in rest.items():
        _wrapped(sheet, "", f"{word}: {', '.join(names)}")


def _automatic(sheet: Sheet, model: Model, own: list[Algorithm], links: Links) -> None:
    found: dict[str, list[Location]] = {}
    for algorithm in own:
        for at in algorithm.automatic:
            if at.symbol in _AUTOMATIC and "model_overrides" not in at.path:
                found.setdefault(str(at.symbol), []).append(at)
    if model.radix:
        for rule in links.snapshot.rules:
            if _chooses_strategy(rule):
                found.setdefault(f"{rule.targets[0]} = {rule.values[0]}", []).append(rule.at)
    if found:
        _heading(sheet, "Chosen automatically")
        for name, places in found.items():
            _line(sheet, name, dict.fromkeys(places))


def _chooses_strategy(rule: Rule) -> bool:
    """Tell whether a rule turns ``auto`` into a strategy for every model that has one."""
    if rule.kind != "override" or not rule.values or rule.targets[0] not in _STRATEGY:
        return False
    return not any("architecture in" in one.text or "model_overrides" in rule.at.path for one in rule.guard)


def _rules(sheet: Sheet, model: Model) -> None:
    entries = [*model.backends, *model.overrides]
    if not entries:
        return
    _heading(sheet, f"Rules that name it ({len(entries)})")
    for entry in entries[:_MOST_RULES]:
        sets = entry.get("sets")
        what = entry.get("message") or entry.get("requires") or ""
        if isinstance(sets, dict) and sets:
            what = ", ".join(f"{name} = {value}" if value else name for name, value in sets.items())
        _line(sheet, f"{entry.get('kind')} {' '.join(str(what).split())}", _at(entry, "at"))
    if len(entries) > _MOST_RULES:
        sheet.lines.append(f"  … and {len(entries) - _MOST_RULES} more")


def _decode_path(links: Links, algorithm: Algorithm) -> CodePath | None:
    paths = links.snapshot.code_paths
    return next(
        (one for one in paths if one.context.get("algorithm") == algorithm.name and "decode" in one.name),
        None,
    )


def _path(sheet: Sheet, links: Links, name: str, heading: str, points: tuple[str, ...]) -> None:
    path = next((one for one in links.snapshot.code_paths if one.name == name), None)
    if path is None:
        return
    steps = [step for step in path.steps if step.waypoint in points]
    if steps:
        _heading(sheet, f"{heading} (indexer show path {name})")
        for step in steps:
            name = step.function if step.function.endswith("__init__") else step.function.rpartition(".")[2]
            _line(sheet, name.removesuffix(".__init__"), [step.at])


def _fact(sheet: Sheet, label: str, value: str, places: Iterable[Location | None]) -> None:
    """Add ``label  value  places``."""
    told = _told(places)
    head = "  " + click.style(f"{label:<{_LABEL}} ", dim=True)
    room = sheet.width - max(len(label), _LABEL) - 3
    first, *more = _beside(value, told, room)
    sheet.lines += [head + first, *(" " * (_LABEL + 3) + line for line in more)]


def _wrapped(sheet: Sheet, label: str, text: str) -> None:
    """Add ``label  text`` on as many lines as it takes: a list of names is not cut."""
    for number, line in enumerate(textwrap.wrap(text, sheet.width - _LABEL - 3, break_long_words=False)):
        _fact(sheet, "" if number else label, line, [])


def _line(sheet: Sheet, text: str, places: Iterable[Location | None]) -> None:
    sheet.lines += ["  " + line for line in _beside(text, _told(places), sheet.width - 2)]


def _beside(text: str, told: str, room: int) -> list[str]:
    """Return a text and its places on one line, the text cut where they don't fit. A name that it begins
    with is not cut: its places follow on a line of their own."""
    if not told or not text:
        return [_cut(text, room) or click.style(told, fg="cyan")]
    if len(text) > room - len(told) - 2 < len(text.split(" ", 1)[0]):
        return [_cut(text, room), click.style(told, fg="cyan")]
    return [f"{_cut(text, max(_SHORTEST, room - len(told) - 2))}  {click.style(told, fg='cyan')}"]


def _heading(sheet: Sheet, text: str) -> None:
    sheet.lines.append(click.style(text, bold=True))


def _told(places: Iterable[Location | None]) -> str:
    """Return places as ``arg_groups/overrides.py:377, :407``: a file is named once in a row."""
    parts: list[str] = []
    last = ""
    for at in places:
        if at is None:
            continue
        short = place(Location(at.path.removeprefix(_COMMON), at.line))
        parts.append(f":{at.line}" if at.path == last else short)
        last = at.path
    return ", ".join(parts)


def _at(facts: dict[str, Value], *keys: str) -> list[Location]:
    found = (as_location(facts.get(key)) for key in keys)
    return [at for at in found if at is not None]


def _maps(value: Value) -> Iterator[dict[str, Value]]:
    yield from value if isinstance(value, list) else []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"
