"""One path through a release's own argument resolution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from indexer.explain.provenance import Write, trace_writes
from indexer.extract.encoded import encode
from indexer.interpret.launch import Launch
from indexer.interpret.program import ARGUMENTS, open_program
from indexer.interpret.running import innermost_frame
from indexer.interpret.signals import Signal, UnknownEscaped, begin_path, swallowed
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.interpret.unknown import Unknown
from indexer.source.tree import SourceTree

PARSE, RESOLVE, CHECK = "parse", "resolve", "check"


@dataclass
class PathResult:
    """What one path came to.

    ``ok`` is True (resolved and checked), False (refused by ``error``) or None (``error`` is a failure
    of ours, so that nothing is known).
    """

    ok: bool | None
    stage: str
    asked: dict[str, Any] = field(default_factory=dict)
    resolved: dict[str, Any] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    exception: str = ""
    message: Any = ""
    at: tuple[str, int, str] | None = None
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    missing: str | None = None


def resolve_path(tree: SourceTree, launch: Launch, transformers: ConfigurationTree | None) -> PathResult:
    """Run ``prepare_server_args``, resolution and ``check_server_args`` for a launch.

    Every failure of SGLang's becomes a refusal with its line, every failure of ours an unknown.
    """
    begin_path()
    program = open_program(tree, launch, transformers)
    world = program.world
    result = PathResult(None, PARSE)

    def parsed(namespace: dict[str, Any]) -> None:
        result.asked = {name: encode_value(value) for name, value in namespace.items()}
        result.stage = RESOLVE

    world.on_parsed = parsed
    try:
        module = program.import_module(ARGUMENTS)
        result.writes = trace_writes(program, module)
        record = module.prepare_server_args(list(launch.argv))
        if hasattr(type(record), "resolve_once"):
            record.resolve_once()
        result.resolved = resolved_values(record)
        result.stage = CHECK
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
    lost = swallowed()
    if result.ok is not None and lost is not None:
        result.ok, result.reason = None, f"SGLang's code went on after: {lost.reason}"
    result.events = world.events
    result.notes = program.notes
    return result


def _refused(result: PathResult, error: BaseException, world: Any) -> None:
    result.ok = False
    result.exception = type(error).__name__
    result.at = innermost_frame(error)
    if isinstance(error, ModuleNotFoundError):
        result.missing = error.name
    if isinstance(error, SystemExit) and world.parser_message:
        result.message = world.parser_message
    else:
        unknown = next((value for value in error.args if type(value) is Unknown), None)
        result.message = f"{unknown._rt_text}" if unknown is not None else _text(error)
    if result.at is None:
        result.ok, result.reason = None, f"{result.exception}: {result.message}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except UnknownEscaped:
        return "(a message with an unknown part)"


def _our_failure(error: BaseException) -> str:
    if isinstance(error, UnknownEscaped):
        return f"{error.operation} of {error.unknown!r} is needed"
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
