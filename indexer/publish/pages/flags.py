"""The flags table and a page per flag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.knowledge.links import RulesOfFlag
from indexer.knowledge.records import fact_record
from indexer.knowledge.schema import Algorithm, Flag, Location, Read
from indexer.knowledge.values import as_unknown, plain_form
from indexer.publish.prose import first_sentence
from indexer.publish.site import Page, VersionSite
from indexer.publish.topics import group_of, grouped, topics_of

INDEX = ("Flags", "flags/index")
DRAFT_PATH = "speculative_draft_model_path"


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the flags table, then each flag."""
    flags = site.snapshot.flags
    if not flags:
        return
    groups = grouped(flags)
    rows = {flag.name: _row(site, flag) for flag in flags}
    yield Page(
        stem="flags/index",
        template="flags.html.j2",
        title="Flags",
        description=f"Every ServerArgs flag of SGLang {site.version}, each cited to file and line.",
        data=[_short_record(site, flag) for flag in flags],
        facts={
            "groups": [(group, [rows[flag.name] for flag in members]) for group, members in groups],
            "facets": _facets(list(rows.values()), [group for group, _ in groups]),
            "total": len(flags),
        },
    )
    for _, members in groups:
        for place, flag in enumerate(members):
            before = members[place - 1] if place else None
            after = members[place + 1] if place + 1 < len(members) else None
            yield _flag_page(site, flag, before, after)


def _flag_page(site: VersionSite, flag: Flag, before: Flag | None, after: Flag | None) -> Page:
    declared = flag.declared_at or flag.registered_at
    unknown_choices = as_unknown(flag.choices)
    return Page(
        stem=f"flags/{flag.name}",
        template="flag.html.j2",
        title=flag.option_strings[0],
        description=first_sentence(flag.help) if isinstance(flag.help, str) else "",
        data=fact_record(site.version, "flag", flag) | {"rules": _rule_ids(site.links.rules_of(flag))},
        trail=[INDEX, (group_of(flag), f"flags/index?group={group_of(flag)}")],
        facts={
            "flag": flag,
            "group": group_of(flag),
            "type": type_label(flag),
            "excerpt": site.source.excerpt(declared) if declared else None,
            "unknown_choices": unknown_choices,
            "choices": flag.choices_at or _uncited_choices(flag),
            "rules": site.links.rules_of(flag),
            "algorithms": site.links.algorithms_of(flag),
            "models": [model.architecture for model in site.links.models_of(flag)],
            "drafts": _drafts(site) if flag.dest == DRAFT_PATH else [],
            "reads": reads_by_file(flag.read_at),
            "before": before,
            "after": after,
            "shared": [other for other in site.links.flags(flag.dest) if other.name != flag.name],
            "replacement": _replacement(site, flag),
            "story": site.story("flag", flag.option_strings[0]),
            "cells": site.cells(f"flag:{flag.name}"),
        },
    )


def _drafts(site: VersionSite) -> list[Algorithm]:
    """Return the algorithms of which is known whether they need a draft model."""
    return [one for one in site.snapshot.algorithms if one.draft_model]


def _rule_ids(rules: RulesOfFlag) -> dict[str, list[str]]:
    told = msgspec.structs.asdict(rules)
    return {how: [rule.id for rule in listed] for how, listed in told.items() if listed}


def _replacement(site: VersionSite, flag: Flag) -> Flag | None:
    if not flag.deprecated or not flag.deprecated.replacement:
        return None
    return next((other for other in site.links.flags(flag.deprecated.replacement)), None)


def _uncited_choices(flag: Flag) -> list[dict[str, Any]]:
    if not isinstance(flag.choices, list):
        return []
    return [{"value": choice, "at": None, "condition": None} for choice in flag.choices]


def type_label(flag: Flag) -> str:
    """Return a flag's type for a reader: ``switch`` where it takes no value."""
    if flag.nargs == 0 or flag.action in ("_StoreTrueAction", "_StoreFalseAction", "BooleanOptionalAction"):
        return "switch"
    unknown = as_unknown(flag.type)
    if unknown:
        return "unknown"
    label = "str" if flag.type is None else plain_form(flag.type)
    return f"list of {label}" if flag.nargs in ("+", "*") else label


def reads_by_file(reads: list[Read]) -> list[tuple[str, list[Read]]]:
    """Return reads by file, files in the order of their first read."""
    files: dict[str, list[Read]] = {}
    for read in reads:
        files.setdefault(read.at.path, []).append(read)
    return list(files.items())


def _short_record(site: VersionSite, flag: Flag) -> dict[str, Any]:
    record = fact_record(site.version, "flag", flag)
    kept = ("id", "url", "option_strings", "dest", "type", "default", "choices", "declared_at", "deprecated")
    return {key: record[key] for key in kept}


def _row(site: VersionSite, flag: Flag) -> dict[str, Any]:
    has_unknown = any(as_unknown(v) for v in (flag.default, flag.choices, flag.type, flag.help, flag.const))
    rules = site.links.rules_of(flag).near
    marks = {
        "choices": bool(flag.choices),
        "rules": bool(rules),
        "alias": len(flag.option_strings) > 1,
        "deprecated": flag.deprecated is not None,
        "environment": flag.env is not None,
        "unknown": has_unknown,
    }
    return {
        "flag": flag,
        "type": type_label(flag),
        "kind": _broad_type(flag),
        "summary": first_sentence(flag.help) if isinstance(flag.help, str) else "",
        "choices": flag.choices if isinstance(flag.choices, list) else [],
        "group": group_of(flag),
        "topics": topics_of(flag),
        "marks": [mark for mark, there in marks.items() if there],
        "rules": len(rules),
        "at": _cited(flag),
    }


def _cited(flag: Flag) -> Location | None:
    return flag.declared_at or flag.registered_at


def _broad_type(flag: Flag) -> str:
    label = type_label(flag).removeprefix("list of ")
    return label if label in ("switch", "int", "str", "float", "unknown") else "custom"


def _facets(rows: list[dict[str, Any]], groups: list[str]) -> list[dict[str, Any]]:
    """Return the facets beside the table: name, key, and (value, count) pairs."""
    topics = Counter(topic for row in rows for topic in row["topics"])
    kinds = Counter(row["kind"] for row in rows)
    marks = Counter(mark for row in rows for mark in row["marks"])
    members = Counter(row["group"] for row in rows)
    return [
        {"title": "Topic", "key": "topic", "values": topics.most_common()},
        {"title": "Has", "key": "has", "values": marks.most_common()},
        {"title": "Type", "key": "type", "values": kinds.most_common()},
        {"title": "Group", "key": "group", "values": [(group, members[group]) for group in groups]},
    ]
