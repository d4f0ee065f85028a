"""Every flag of the server's parser: its values run, its lines read.

The values come from the tree's own ``add_cli_args``, run by the interpreter with a parser that notes
each registration; the lines from the declarations found by shape. Where both see a flag they must
agree, and what only one of them sees is reported.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

from indexer.errors import CannotError
from indexer.extract.choice_sites import choice_sites
from indexer.extract.encoded import encode
from indexer.extract.flag_sites import FieldSite, FlagCall, FlagSites
from indexer.extract.literal_sites import LiteralTracer
from indexer.extract.requirements import required_packages
from indexer.interpret.external import External
from indexer.interpret.launch import Gpu, Launch
from indexer.interpret.program import ARGUMENTS, open_program, run_whole
from indexer.interpret.running import innermost_line, run_with_deep_stack
from indexer.interpret.signals import Signal
from indexer.interpret.unknown import Decisions, Unknown, following
from indexer.knowledge.schema import Choice, Deprecation, Field, Flag, Location, Unrecognised
from indexer.knowledge.schema import Unknown as UnknownValue
from indexer.source.tree import SourceTree
from indexer.syntax.graph import ModuleGraph

_PROBED_GPU = Gpu("NVIDIA H200", (9, 0), 150_109_880_320, 143_771, multiprocessors=132)
"""Some GPU: a flag that differs with and without one depends on the machine."""

_MOST_MISSING = 30

_REPLACEMENT = re.compile(
    r"(?:use|replaced by|renamed to|in favor of|instead of)\W+(--[a-z0-9][a-z0-9-]*)", re.IGNORECASE
)
"""How a help text or message names the flag to use instead."""


@dataclass
class ParserRun:
    """What one run of ``add_cli_args`` registered: (argparse action, path, line, function)."""

    actions: list[tuple[argparse.Action, tuple[str, int, str]]]
    record: type
    forks: list[str]
    notes: list[str]
    variables: list[str] = field(default_factory=list)


def run_parser(tree: SourceTree, launch: Launch) -> ParserRun:
    """Run the tree's ``ServerArgs.add_cli_args`` in the world of a launch.

    A package that the tree can't be imported without is taken to be installed, also where it is only
    a requirement of a requirement.

    Raises:
        CannotError: the tree's argument code could not be run, with the line where it stopped.
    """
    for _ in range(_MOST_MISSING):
        try:
            return run_with_deep_stack(partial(_run_parser, tree, launch))
        except CannotError as error:
            missing = error.__cause__
            if not isinstance(missing, ModuleNotFoundError) or not missing.name:
                raise
            launch = replace(launch, packages={**launch.packages, missing.name.partition(".")[0]: ""})
    raise CannotError(f"{tree.version}: add_cli_args needs more packages than can be supposed")


def _run_parser(tree: SourceTree, launch: Launch) -> ParserRun:
    program = open_program(tree, launch)
    decisions = Decisions()
    with following(decisions):
        try:
            record = program.import_module(ARGUMENTS).ServerArgs
            parser = program.world.import_module("argparse").ArgumentParser()
            program.world.arguments.clear()
            reads = program.world.environment.reads
            at_import = [name for name, paths in reads.items() if any(map(_declares_flags, paths))]
            reads.clear()
            record.add_cli_args(parser)
        except (Signal, Exception, SystemExit, RecursionError) as error:
            raise CannotError(
                f"{tree.version}: add_cli_args could not be run ({type(error).__name__}: {error}"
                f"{innermost_line(error)})",
                "report it with the version: the flags of this tree are not known",
            ) from error
    return ParserRun(
        [added for added in program.world.arguments if not isinstance(added[0], argparse._HelpAction)],
        record,
        [fork.text for fork in decisions.forks],
        program.notes,
        sorted({*at_import, *reads}),
    )


def _declares_flags(path: str) -> bool:
    """Tell whether a module's own statements make flags or what they are made of."""
    return run_whole(path.removeprefix("python/").removesuffix(".py").replace("/", ".")) and (
        not path.endswith("environ.py")
    )


def extract_flags(
    tree: SourceTree, graph: ModuleGraph, sites: FlagSites
) -> tuple[list[Flag], list[Field], list[Unrecognised]]:
    """Return the flags in parser order, the record's fields, and declarations that made no flag."""
    launch = Launch(packages=required_packages(tree))
    run = run_parser(tree, launch)
    tracer = LiteralTracer(graph)
    flags = [_flag(action, where, sites, graph, tracer) for action, where in run.actions]
    fields = record_fields(run.record, sites, {flag.dest for flag in flags})
    defaults = {one.name: one for one in fields}
    for flag in flags:
        known = defaults.get(flag.dest)
        flag.field = flag.dest if known else None
        if known and known.has_default and known.default != flag.default:
            flag.field_default = known.default
    _mark_dependent(tree, launch, run, flags)
    return flags, fields, _not_registered(sites, flags)


def _flag(
    action: argparse.Action,
    where: tuple[str, int, str],
    sites: FlagSites,
    graph: ModuleGraph,
    tracer: LiteralTracer,
) -> Flag:
    path, line, function = where
    call = next((one for one in sites.calls if one.at.path == path and one.at.line == line), None)
    site = sites.fields.get(action.dest)
    registered = Location(path, line, call.at.end_line if call else None, function)
    declared = site.at if site else registered
    choices, container = _choices(action.choices)
    flag = Flag(
        name=_long_name(action.option_strings),
        option_strings=list(action.option_strings),
        dest=action.dest,
        action=type(action).__name__,
        nargs=encode(action.nargs),
        const=encode(action.const),
        default=encode(action.default),
        type=_type_name(action.type),
        choices=choices,
        required=action.required,
        metavar=encode(action.metavar),
        declared_at=declared,
        registered_at=registered,
        choices_container=container,
        namespace=site.namespace if site else None,
    )
    _set_help(flag, action)
    declaration: FlagCall | FieldSite | None = call or site
    if isinstance(choices, list) and declaration is not None:
        _locate_choices(flag, choices, declaration, graph, tracer)
    flag.deprecated = deprecation(action, flag, declared)
    if site is not None and "fallback" in site.metadata:
        flag.fallback = _fallback(site)
    return flag


def _long_name(option_strings: Sequence[str]) -> str:
    long = next((name for name in option_strings if name.startswith("--")), option_strings[0])
    return long.lstrip("-")


def _set_help(flag: Flag, action: argparse.Action) -> None:
    if action.help == argparse.SUPPRESS:
        flag.help_suppressed = True
        flag.help = action.help
    elif type(action.help) is Unknown:
        flag.help = UnknownValue(repr(action.help), flag.registered_at)
    else:
        flag.help = action.help


def _type_name(kind: Any) -> Any:
    if kind is None:
        return None
    if type(kind) is Unknown:
        return UnknownValue(kind._rt_text)
    return getattr(kind, "__qualname__", None) or getattr(kind, "__name__", None) or repr(kind)


def _choices(choices: Any) -> tuple[Any, str | None]:
    if choices is None:
        return None, None
    if type(choices) in (Unknown, External):
        return UnknownValue(repr(choices)), None
    container = None if isinstance(choices, list) else type(choices).__name__
    if isinstance(choices, (set, frozenset)):
        return sorted((encode(value) for value in choices), key=repr), container
    return [encode(value) for value in choices], container


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


def deprecation(action: argparse.Action, flag: Flag, at: Location) -> Deprecation | None:
    """Return what the tree says about a deprecated flag: by its action class, or by its help."""
    kind = type(action).__name__
    new = vars(action).get("new_flag")
    text = flag.help if isinstance(flag.help, str) and not flag.help_suppressed else ""
    by_help = re.search(r"\bdeprecated\b", text, re.IGNORECASE) is not None and _about_itself(text)
    if "deprecat" not in kind.lower() and not by_help:
        return None
    if not isinstance(new, str):
        message = vars(action).get("error_message")
        said = f"{message} {text}" if isinstance(message, str) else text
        match = re.search(
            r"(?:use|replaced by|renamed to|in favor of|instead of)\W+(--[a-z0-9][a-z0-9-]*)", said, re.I
        )
        new = match.group(1) if match and match.group(1).lstrip("-") != flag.name else None
    return Deprecation(at, replacement=new, message=text or None, raises=_raises(action))


class _Refusing(argparse.ArgumentParser):
    """A parser whose ``error`` raises instead of printing and exiting."""

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentError(None, message)


def _raises(action: argparse.Action) -> bool:
    """Tell whether a deprecated flag that takes no value stops the launch: its action is tried.

    Only the exceptions that such actions raise on purpose count; a failure of ours tells nothing.
    """
    if action.nargs != 0 or type(action).__module__ == argparse.__name__:
        return False
    try:
        action(_Refusing(add_help=False), argparse.Namespace(), [], action.option_strings[0])
    except (ValueError, argparse.ArgumentError):
        return True
    except (Exception, Signal):
        return False
    return False


def _about_itself(text: str) -> bool:
    """Tell whether a help text calls the flag deprecated, not one of its values or another flag."""
    start = text.strip().lower()
    return (
        re.match(r"[\[(]?deprecated\b", start) is not None
        or re.search(r"\b(this (flag|option|argument|parameter)|it) (is|has been|was) deprecated", start)
        is not None
    )


def record_fields(record: type, sites: FlagSites, dests: set[str]) -> list[Field]:
    """Return the fields of the record, with or without a flag."""
    import msgspec

    found: list[Field] = []
    absent = (dataclasses.MISSING, msgspec.NODEFAULT)
    if dataclasses.is_dataclass(record):
        rows: list[tuple[str, Any, Any]] = [
            (one.name, one.default, one.default_factory) for one in dataclasses.fields(record)
        ]
    else:
        names, defaults = record.__struct_fields__, record.__struct_defaults__  # type: ignore[attr-defined]
        required = len(names) - len(defaults)
        rows = []
        for index, name in enumerate(names):
            value = defaults[index - required] if index >= required else msgspec.NODEFAULT
            factory = getattr(value, "factory", msgspec.NODEFAULT)
            rows.append((name, value if factory is msgspec.NODEFAULT else msgspec.NODEFAULT, factory))
    for name, default, factory in rows:
        site = sites.fields.get(name)
        has_default = not (_among(default, absent) and _among(factory, absent))
        value = default if not _among(default, absent) else factory() if has_default else None
        found.append(
            Field(
                name,
                has_cli=name in dests,
                has_default=has_default,
                default=encode(value),
                type=site.annotation if site and site.kind == "plain" else None,
                declared_at=site.at if site else None,
                namespace=site.namespace if site else None,
            )
        )
    return found


def _among(value: Any, sentinels: tuple[Any, ...]) -> bool:
    return any(value is sentinel for sentinel in sentinels)


def _mark_dependent(tree: SourceTree, launch: Launch, base: ParserRun, flags: list[Flag]) -> None:
    """Mark flags whose attributes change with a GPU or with a variable read while they are made."""
    variants = [("GPU", replace(launch, gpu=_PROBED_GPU, gpu_count=8, cuda="13.0"))]
    variants += [(f"env {name}", replace(launch, env={name: "1"})) for name in base.variables]
    for reason, other in variants:
        try:
            run = run_parser(tree, other)
        except CannotError:
            continue
        seen = {tuple(action.option_strings): _comparable(action) for action, _ in run.actions}
        for (action, _), flag in zip(base.actions, flags, strict=True):
            if seen.get(tuple(action.option_strings)) != _comparable(action):
                flag.machine_dependent.append(reason)


def _comparable(action: argparse.Action) -> tuple[Any, ...]:
    return (
        action.dest, repr(action.nargs), repr(encode(action.const)), repr(encode(action.default)),
        _type_name(action.type), repr(_choices(action.choices)), action.required, repr(action.help),
    )  # fmt: skip


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
