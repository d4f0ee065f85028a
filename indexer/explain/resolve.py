"""One path through a release's own argument resolution."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import msgspec

from indexer.explain.declared import Declared, Write, unnoted_decisions
from indexer.explain.explanation import StartCheck
from indexer.explain.provenance import trace_writes
from indexer.explain.steps import Step, Watcher
from indexer.extract.encoded import encode
from indexer.interpret.launch import Launch
from indexer.interpret.modules import Program
from indexer.interpret.program import ARGUMENTS, open_program
from indexer.interpret.running import innermost_frame
from indexer.interpret.signals import Signal, UnknownEscaped, begin_path, swallowed
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.interpret.unknown import Unknown, contains_unknown, is_about_unknown
from indexer.source.tree import SourceTree

PARSE, RESOLVE, CHECK = "parse", "resolve", "check"


_finished: list[Program] = []
"""The program of the last path: taken apart when another path begins, a process's last never has to be."""


@dataclass(frozen=True)
class Also:
    """What else is asked of a path: its steps, with the lines that ran of some functions (path and
    qualified name); what a starting server makes of what was resolved."""

    steps: bool = False
    lines_of: frozenset[tuple[str, str]] = frozenset()
    start: bool = False


class PathEvent(msgspec.Struct, frozen=True, array_like=True):
    """A log line or warning of a path."""

    level: str
    text: str
    path: str
    line: int


class PathResult(msgspec.Struct):
    """What one path came to, as plain data: a path may have been run by another process.

    ``ok`` is True (resolved and checked), False (refused by ``exception``) or None (a failure of ours,
    so that nothing is known). ``unknown`` are the facts that fields hang on whose values are not known,
    also in part; ``used`` what a later path needs compiled: modules, and texts of ``dataclasses``.
    """

    ok: bool | None
    stage: str
    asked: dict[str, Any] = {}
    resolved: dict[str, Any] = {}
    unknown: dict[str, list[str]] = {}
    writes: list[Write] = []
    events: list[PathEvent] = []
    exception: str = ""
    message: str = ""
    at: tuple[str, int, str] | None = None
    reason: str = ""
    notes: list[str] = []
    missing: str | None = None
    steps: list[Step] = []
    start: list[StartCheck] = []


def resolve_path(
    tree: SourceTree,
    launch: Launch,
    transformers: ConfigurationTree | None,
    also: Also = Also(),
) -> PathResult:
    """Run ``prepare_server_args``, resolution and ``check_server_args`` for a launch.

    Every failure of SGLang's becomes a refusal with its line, every failure of ours an unknown.
    """
    begin_path()
    while _finished:
        _finished.pop().close()
    program = open_program(tree, launch, transformers)
    _finished.append(program)
    world = program.world
    result = PathResult(None, PARSE)

    def parsed(namespace: dict[str, Any]) -> None:
        result.asked = {name: _told(encode_value(value)) for name, value in namespace.items()}
        result.stage = RESOLVE

    world.on_parsed = parsed
    record = None
    decided: list[Write] = []
    watcher = Watcher(also.lines_of) if also.steps else None
    if watcher is not None:
        result.writes = watcher.writes
    try:
        module = program.import_module(ARGUMENTS)
        declared: list[Declared] = []
        trace_writes(program, module, result.writes, declared)
        with _watching(watcher):
            record = module.prepare_server_args(list(launch.argv))
            if hasattr(type(record), "resolve_once"):
                record.resolve_once()
        decided = unnoted_decisions(program, record, declared)
        _note_resolved(result, resolved_values(record))
        result.stage = CHECK
        with _watching(watcher):
            if hasattr(type(record), "check_server_args"):
                record.check_server_args()
        result.ok = True
    except (Signal, RecursionError, MemoryError) as error:
        result.reason = _our_failure(error)
        result.at = innermost_frame(error)
    except NameError as error:
        # A name that the tree binds but we could not: SGLang's own code doesn't fail this way.
        if isinstance(error, UnboundLocalError):
            _refused(result, error, world)
        else:
            result.reason, result.at = f"{type(error).__name__}: {error}", innermost_frame(error)
    except (Exception, SystemExit) as error:
        _refused(result, error, world)
        if is_about_unknown(error):
            result.ok, result.reason = None, f"{result.exception}: {result.message}"
    lost = swallowed()
    if result.ok is not None and lost is not None:
        result.ok, result.reason = None, f"SGLang's code went on after: {lost.reason}"
    result.events = [PathEvent(one.level, _plain(one.text), one.path, one.line) for one in world.events]
    result.notes = list(program.notes)
    if watcher is not None:
        result.steps = watcher.steps()
    result.writes = [*result.writes, *decided]
    if also.start and result.ok:
        from indexer.explain.start.checks import start_checks

        result.start = start_checks(tree, program, record)
    return result


def _watching(watcher: Watcher | None) -> AbstractContextManager[None]:
    return nullcontext() if watcher is None else watcher.watching()


def _note_resolved(result: PathResult, values: dict[str, Any]) -> None:
    result.resolved = {name: _told(value) for name, value in values.items()}
    for name, value in values.items():
        unknown = contains_unknown(value)
        if unknown is not None:
            result.unknown[name] = list(unknown._rt_roots)


def _told(value: Any) -> Any:
    """Return a value with its unknown parts as text."""
    if type(value) is Unknown:
        return {"unknown": ", ".join(value._rt_roots)}
    if isinstance(value, list):
        return [_told(item) for item in value]
    if isinstance(value, dict):
        return {name: _told(item) for name, item in value.items()}
    return value


def _plain(text: Any) -> str:
    return text if isinstance(text, str) else text._rt_text


def _refused(result: PathResult, error: BaseException, world: Any) -> None:
    result.ok = False
    result.exception = type(error).__name__
    result.at = innermost_frame(error)
    if isinstance(error, ModuleNotFoundError):
        result.missing = error.name
    if isinstance(error, SystemExit) and world.parser_message:
        result.message = str(world.parser_message)
    else:
        unknown = next((value for value in error.args if type(value) is Unknown), None)
        result.message = unknown._rt_text if unknown is not None else _text(error)
    if result.at is None:
        result.ok, result.reason = None, f"{result.exception}: {result.message}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except UnknownEscaped:
        return "(a message with an unknown part)"


def _our_failure(error: BaseException) -> str:
    if isinstance(error, UnknownEscaped):
        roots = getattr(error.unknown, "_rt_roots", ()) if type(error.unknown) is Unknown else ()
        decided = f" (depends on {', '.join(roots)})" if roots else ""
        return f"{error.operation} of {error.unknown!r} is needed{decided}"
    return str(error) or type(error).__name__


def resolved_values(record: Any) -> dict[str, Any]:
    """Return what resolution made of every field of a record, as JSON data."""
    if hasattr(type(record), "resolved_dict"):
        values = dict(record.resolved_dict())
    else:
        names = getattr(type(record), "__dataclass_fields__", None) or type(record).__struct_fields__
        values = {name: getattr(record, name) for name in names}
    return {name: encode_value(value) for name, value in values.items()}


def encode_value(value: Any, depth: int = 0) -> Any:
    """Return a resolved value as JSON data; what can't be known stays an ``Unknown`` of ours."""
    import dataclasses
    import enum

    if type(value) is Unknown:
        return value
    if isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, (list, tuple)) and depth < 6:
        return [encode_value(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((encode_value(item, depth + 1) for item in value), key=repr)
    if isinstance(value, dict) and depth < 6:
        return {str(name): encode_value(item, depth + 1) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 6:
        return {
            one.name: encode_value(getattr(value, one.name, None), depth + 1)
            for one in dataclasses.fields(value)
        }
    return encode(value)
