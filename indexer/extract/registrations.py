"""What a tree's own ``add_cli_args`` registers, as plain data.

The function is run by the interpreter with a parser that notes each registration: here for a tree that is
known by its hash, in a child with limits for any other.
"""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import msgspec

from indexer.errors import CannotError
from indexer.extract.encoded import encode
from indexer.extract.requirements import required_packages
from indexer.interpret import children
from indexer.interpret.code_cache import code_of
from indexer.interpret.external import External
from indexer.interpret.launch import Gpu, Launch
from indexer.interpret.program import ARGUMENTS, open_program, run_whole
from indexer.interpret.running import innermost_line, run_with_deep_stack
from indexer.interpret.signals import Signal
from indexer.interpret.unknown import Decisions, Unknown, following
from indexer.knowledge.schema import Unknown as UnknownValue
from indexer.knowledge.schema import Value
from indexer.source.tree import SourceTree

_PROBED_GPU = Gpu("NVIDIA H200", (9, 0), 150_109_880_320, 143_771, multiprocessors=132)
"""Some GPU: a flag that differs with and without one depends on the machine."""

_MOST_MISSING = 30


class Registration(msgspec.Struct):
    """One argparse action and where it was registered (path, line, function).

    Names are argparse's own; values are JSON data. ``new_flag`` and ``error_message`` are what actions of
    deprecated flags keep, ``raises`` tells that one stops the launch, ``dependent`` names the GPU and the
    variables that change it.
    """

    option_strings: list[str]
    dest: str
    action: str
    nargs: Value
    const: Value
    default: Value
    type: Value
    choices: list[Value] | UnknownValue | None
    choices_container: str | None
    required: bool
    metavar: Value
    help: str | UnknownValue | None
    help_suppressed: bool
    at: tuple[str, int, str]
    new_flag: str | None
    error_message: str | None
    raises: bool
    dependent: list[str] = []


class RecordField(msgspec.Struct):
    """A field of the record; the default is None where it has none."""

    name: str
    has_default: bool
    default: Value


class Registrations(msgspec.Struct):
    """All actions in parser order, and the record's fields."""

    actions: list[Registration]
    fields: list[RecordField]


def registrations_of(tree: SourceTree) -> Registrations:
    """Return what the tree registers on a machine without a GPU, and what hangs on one.

    Raises:
        CannotError: the tree's argument code could not be run, with the line where it stopped.
    """
    if tree.pinned or not children.AVAILABLE:
        return _register(tree)
    [answer] = children.run_children([partial(_told, tree)], children.Limits())
    if isinstance(answer, children.ChildStopped):
        raise CannotError(f"{tree.version}: add_cli_args could not be run ({answer})", _FIX)
    said = msgspec.json.decode(answer, type=_Said)
    if said.found is None:
        raise CannotError(*said.failure)
    code_of(tree).prepare(*said.added)
    for one in said.found.actions:
        one.nargs, one.const, one.default = map(_restored, (one.nargs, one.const, one.default))
        one.type, one.metavar = _restored(one.type), _restored(one.metavar)
        if isinstance(one.choices, list):
            one.choices = [_restored(choice) for choice in one.choices]
    for field in said.found.fields:
        field.default = _restored(field.default)
    return said.found


_FIX = "report it with the version: the flags of this tree are not known"


class _Said(msgspec.Struct):
    found: Registrations | None = None
    failure: tuple[str, str | None] = ("", None)
    added: tuple[list[str], list[str]] = ([], [])


def _told(tree: SourceTree) -> bytes:
    try:
        said = _Said(_register(tree), added=code_of(tree).added())
    except CannotError as error:
        said = _Said(failure=(error.message, error.fix))
    return msgspec.json.encode(said)


def _restored(value: Value) -> Value:
    """Return a decoded value with its unknown parts as such again."""
    if isinstance(value, dict):
        if value.keys() == {"unknown", "at"}:
            return UnknownValue(value["unknown"])
        return {name: _restored(item) for name, item in value.items()}
    return [_restored(item) for item in value] if isinstance(value, list) else value


def _register(tree: SourceTree) -> Registrations:
    launch = Launch(packages=required_packages(tree))
    base = _run(tree, launch)
    _mark_dependent(tree, launch, base)
    return base.found


@dataclasses.dataclass
class _Run:
    """One run of ``add_cli_args``: what it registered, and the variables it read."""

    found: Registrations
    variables: list[str]


def _run(tree: SourceTree, launch: Launch) -> _Run:
    """Run the tree's ``ServerArgs.add_cli_args`` in the world of a launch.

    A package that the tree can't be imported without is taken to be installed, also where it is only
    a requirement of a requirement.

    Raises:
        CannotError: the tree's argument code could not be run, with the line where it stopped.
    """
    for _ in range(_MOST_MISSING):
        try:
            return run_with_deep_stack(partial(_run_once, tree, launch))
        except CannotError as error:
            missing = error.__cause__
            if not isinstance(missing, ModuleNotFoundError) or not missing.name:
                raise
            launch = replace(launch, packages={**launch.packages, missing.name.partition(".")[0]: ""})
    raise CannotError(f"{tree.version}: add_cli_args needs more packages than can be supposed")


def _run_once(tree: SourceTree, launch: Launch) -> _Run:
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
                _FIX,
            ) from error
    added = [one for one in program.world.arguments if not isinstance(one[0], argparse._HelpAction)]
    found = Registrations([_registration(*one) for one in added], _record_fields(record))
    return _Run(found, sorted({*at_import, *reads}))


def _declares_flags(path: str) -> bool:
    """Tell whether a module's own statements make flags or what they are made of."""
    return run_whole(path.removeprefix("python/").removesuffix(".py").replace("/", ".")) and (
        not path.endswith("environ.py")
    )


def _registration(action: argparse.Action, at: tuple[str, int, str]) -> Registration:
    choices, container = _choices(action.choices)
    suppressed = action.help == argparse.SUPPRESS
    unknown_help = UnknownValue(repr(action.help)) if type(action.help) is Unknown else None
    return Registration(
        option_strings=list(action.option_strings),
        dest=action.dest,
        action=type(action).__name__,
        nargs=encode(action.nargs),
        const=encode(action.const),
        default=encode(action.default),
        type=_type_name(action.type),
        choices=choices,
        choices_container=container,
        required=action.required,
        metavar=encode(action.metavar),
        help=unknown_help or action.help,
        help_suppressed=suppressed,
        at=at,
        new_flag=_text(vars(action).get("new_flag")),
        error_message=_text(vars(action).get("error_message")),
        raises=_raises(action),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


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


def _record_fields(record: type) -> list[RecordField]:
    """Return the record's fields, with or without a flag."""
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
    found = []
    for name, default, factory in rows:
        has_default = not (_among(default, absent) and _among(factory, absent))
        value = default if not _among(default, absent) else factory() if has_default else None
        found.append(RecordField(name, has_default, encode(value)))
    return found


def _among(value: Any, sentinels: tuple[Any, ...]) -> bool:
    return any(value is sentinel for sentinel in sentinels)


def _mark_dependent(tree: SourceTree, launch: Launch, base: _Run) -> None:
    """Mark actions whose attributes change with a GPU or with a variable read while they are made."""
    variants = [("GPU", replace(launch, gpu=_PROBED_GPU, gpu_count=8, cuda="13.0"))]
    variants += [(f"env {name}", replace(launch, env={name: "1"})) for name in base.variables]
    for reason, other in variants:
        try:
            run = _run(tree, other)
        except CannotError:
            continue
        seen = {tuple(one.option_strings): _comparable(one) for one in run.found.actions}
        for one in base.found.actions:
            if seen.get(tuple(one.option_strings)) != _comparable(one):
                one.dependent.append(reason)


def _comparable(one: Registration) -> bytes:
    """Return what a flag is, apart from where it was registered and what is known of its variants."""
    plain = msgspec.structs.replace(one, at=("", 0, ""), dependent=[], raises=False)
    return msgspec.json.encode(plain, order="sorted")
