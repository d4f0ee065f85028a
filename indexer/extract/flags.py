"""Every flag of the server's parser: its values run, its lines read.

The values come from the tree's own ``add_cli_args``, run by the interpreter with a parser that notes
each registration; the lines from the declarations found by shape. Where both see a flag they must
agree, and what only one of them sees is reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from indexer.extract.choice_sites import choice_sites
from indexer.extract.encoded import encode
from indexer.extract.flag_sites import FieldSite, FlagCall, FlagSites
from indexer.extract.literal_sites import LiteralTracer
from indexer.extract.registrations import RecordField, Registration, registrations_of
from indexer.knowledge.schema import Choice, Deprecation, Field, Flag, Location, Unrecognised
from indexer.knowledge.schema import Unknown as UnknownValue
from indexer.source.tree import SourceTree
from indexer.syntax.graph import ModuleGraph

_REPLACEMENT = re.compile(
    r"(?:use|replaced by|renamed to|in favor of|instead of)\W+(--[a-z0-9][a-z0-9-]*)", re.IGNORECASE
)
"""How a help text or message names the flag to use instead."""


def extract_flags(
    tree: SourceTree, graph: ModuleGraph, sites: FlagSites
) -> tuple[list[Flag], list[Field], list[Unrecognised]]:
    """Return the flags in parser order, the record's fields, and declarations that made no flag."""
    registered = registrations_of(tree)
    tracer = LiteralTracer(graph)
    flags = [_flag(one, sites, graph, tracer) for one in registered.actions]
    fields = _fields(registered.fields, sites, {flag.dest for flag in flags})
    defaults = {one.name: one for one in fields}
    for flag in flags:
        known = defaults.get(flag.dest)
        flag.field = flag.dest if known else None
        if known and known.has_default and known.default != flag.default:
            flag.field_default = known.default
    return flags, fields, _not_registered(sites, flags)


def _flag(one: Registration, sites: FlagSites, graph: ModuleGraph, tracer: LiteralTracer) -> Flag:
    path, line, function = one.at
    call = next((call for call in sites.calls if call.at.path == path and call.at.line == line), None)
    site = sites.fields.get(one.dest)
    registered = Location(path, line, call.at.end_line if call else None, function)
    declared = site.at if site else registered
    flag = Flag(
        name=_long_name(one.option_strings),
        option_strings=one.option_strings,
        dest=one.dest,
        action=one.action,
        nargs=one.nargs,
        const=one.const,
        default=one.default,
        type=one.type,
        choices=one.choices,
        required=one.required,
        metavar=one.metavar,
        help=UnknownValue(one.help.unknown, registered) if isinstance(one.help, UnknownValue) else one.help,
        help_suppressed=one.help_suppressed,
        declared_at=declared,
        registered_at=registered,
        choices_container=one.choices_container,
        namespace=site.namespace if site else None,
        machine_dependent=list(one.dependent),
    )
    declaration: FlagCall | FieldSite | None = call or site
    if isinstance(one.choices, list) and declaration is not None:
        _locate_choices(flag, one.choices, declaration, graph, tracer)
    flag.deprecated = _deprecation(one, flag, declared)
    if site is not None and "fallback" in site.metadata:
        flag.fallback = _fallback(site)
    return flag


def _long_name(option_strings: Sequence[str]) -> str:
    long = next((name for name in option_strings if name.startswith("--")), option_strings[0])
    return long.lstrip("-")


def _locate_choices(
    flag: Flag,
    choices: list[Any],
    declaration: FlagCall | FieldSite,
    graph: ModuleGraph,
    tracer: LiteralTracer,
) -> None:
    found = choice_sites(graph, declaration, tracer)
    flag.choices_open = found.open_at
    for value in choices:
        key = value if not isinstance(value, dict) else value.get("value", value.get("name"))
        at = found.values.get(key) if isinstance(key, (str, int, float, bool, type(None))) else None
        flag.choices_at.append(Choice(value, at, found.conditions.get(key) if at else None))


def _fallback(site: FieldSite) -> Any:
    import ast

    argument = site.metadata["fallback"]
    try:
        return encode(ast.literal_eval(argument.text))
    except (ValueError, SyntaxError):
        return UnknownValue(f"computed: {argument.text}", argument.at)


def _deprecation(one: Registration, flag: Flag, at: Location) -> Deprecation | None:
    """Return what the tree says about a deprecated flag: by its action class, or by its help."""
    new = one.new_flag
    text = flag.help if isinstance(flag.help, str) and not flag.help_suppressed else ""
    by_help = re.search(r"\bdeprecated\b", text, re.IGNORECASE) is not None and _about_itself(text)
    if "deprecat" not in one.action.lower() and not by_help:
        return None
    if new is None:
        said = f"{one.error_message} {text}" if one.error_message is not None else text
        match = _REPLACEMENT.search(said)
        new = match.group(1) if match and match.group(1).lstrip("-") != flag.name else None
    return Deprecation(at, replacement=new, message=text or None, raises=one.raises)


def _about_itself(text: str) -> bool:
    """Tell whether a help text calls the flag deprecated, not one of its values or another flag."""
    start = text.strip().lower()
    return (
        re.match(r"[\[(]?deprecated\b", start) is not None
        or re.search(r"\b(this (flag|option|argument|parameter)|it) (is|has been|was) deprecated", start)
        is not None
    )


def _fields(fields: list[RecordField], sites: FlagSites, dests: set[str]) -> list[Field]:
    """Return the record's fields with where they are declared."""
    found = []
    for one in fields:
        site = sites.fields.get(one.name)
        found.append(
            Field(
                one.name,
                has_cli=one.name in dests,
                has_default=one.has_default,
                default=one.default,
                type=site.annotation if site and site.kind == "plain" else None,
                declared_at=site.at if site else None,
                namespace=site.namespace if site else None,
            )
        )
    return found


def _not_registered(sites: FlagSites, flags: list[Flag]) -> list[Unrecognised]:
    """Return declarations by shape that the parser's run did not register."""
    registered = {(flag.registered_at.path, flag.registered_at.line) for flag in flags if flag.registered_at}
    dests = {flag.dest for flag in flags}
    missing = [
        Unrecognised("flag", call.at, " ".join(call.option_strings), "add_argument that the run didn't reach")
        for call in sites.calls
        if (call.at.path, call.at.line) not in registered
    ]
    if sites.registrars:
        missing += [
            Unrecognised("flag", site.at, site.name, "annotated field that made no flag")
            for site in sites.fields.values()
            if site.flag and site.name not in dests
        ]
    return missing
