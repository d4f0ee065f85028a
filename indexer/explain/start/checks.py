"""What a starting server makes of a launch whose arguments were accepted, and where it would refuse it.

Run are the release's own functions that choose and make the attention backend, on a stand-in for the model
runner of which only what follows from the launch is known. What hangs on anything else is tried both ways,
each in a child of its own, until one does not end in a refusal of the release's code: the server refuses the
launch where all of them do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import msgspec

from indexer.explain.explanation import StartCheck, StartRefusal
from indexer.explain.start.outside import Resolved, configured, teach_sizes
from indexer.explain.start.standin import Unmade, place_of, publish, request_pool, runner_of
from indexer.explain.start.wanted import file_with
from indexer.explain.start.why import message, why
from indexer.interpret import children
from indexer.interpret.compiled import MARK
from indexer.interpret.explore import ExploredPath, Script, explore_with, run_script
from indexer.interpret.modules import Program
from indexer.interpret.signals import Signal, begin_path, swallowed
from indexer.interpret.unknown import Decisions, Fork, Unknown, following, is_about_unknown
from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT, SourceTree

_WRAPPED = re.compile(rb"\bdef (attn_backend_wrapper)\(")
_BACKENDS = "ATTENTION_BACKENDS"
_FOLDER = f"{PACKAGE_ROOT}/srt/layers/attention"
_REFUSALS = (AssertionError, ValueError, NotImplementedError, RuntimeError)
_MOST_PATHS = 12


class _End(msgspec.Struct):
    """How one path ended: in a refusal, for a reason of ours, or well."""

    refusal: StartRefusal | None = None
    open: str = ""
    forks: list[tuple[str, bool, bool]] = []


def start_checks(tree: SourceTree, program: Program, record: Any) -> list[StartCheck]:
    """Return what a starting server makes of a resolved record; nothing where that can't be asked.

    The program is changed by it: nothing else can be asked of it afterwards.
    """
    found = file_with(tree, _WRAPPED, _FOLDER)
    if found is None or not children.AVAILABLE:
        return []
    path, wrapper = found
    begin_path()
    decisions = Decisions(())
    try:
        with following(decisions):
            teach_sizes(program)
            program.world.know({}, {"torch.device": _device})
            opened = configured(program, record)
            publish(program, record)
            pool = _pool(opened)
            runner = runner_of(opened, use_mla_backend=_uses_mla(opened.config), req_to_token_pool=pool)
            made = list(_made(opened, program.import_module(_dotted(path)), wrapper, runner))
    except (Signal, RecursionError, MemoryError, Exception, SystemExit) as error:
        return [StartCheck("attention backend", Location(path, 1), open=why(error))]
    if any(not fork.forced for fork in decisions.forks):
        asked = f"it hangs on {', '.join(dict.fromkeys(fork.text for fork in decisions.forks))}"
        return [StartCheck("attention backend", Location(path, 1), open=asked)]
    return [_checked(tree, what, at, make) for what, at, make in made]


def _pool(opened: Resolved) -> Any:
    try:
        return request_pool(opened)
    except Exception:  # the configuration lacks something: then nothing is known of the state
        return Unmade()


def _dotted(path: str) -> str:
    return path.removeprefix("python/").removesuffix(".py").replace("/", ".")


def _made(
    opened: Resolved, module: Any, wrapper: str, runner: Any
) -> Iterator[tuple[str, Location, Callable[[], Any]]]:
    """Yield what the server makes: its name, the function that does it, and a call of that function."""
    creators = getattr(module, _BACKENDS, None)
    roles = (opened.values.get(f"{role}_attention_backend") for role in ("prefill", "decode"))
    chosen = {role or opened.values.get("attention_backend") for role in roles}
    for name in sorted(one for one in chosen if isinstance(one, str)):
        create = creators.get(name) if isinstance(creators, dict) else None
        if create is not None:
            yield f"attention backend {name}", place_of(create), partial(create, runner)
    wrap = getattr(module, wrapper)
    yield "attention backend of the model", place_of(wrap), partial(wrap, runner, Unmade())


def _device(name: Any = None, *rest: Any, **options: Any) -> Any:
    """``torch.device`` of a name, as far as its kind is told by it."""
    if type(name) is not str:
        return Unknown("torch.device()")
    kind, _, index = name.partition(":")
    return SimpleNamespace(type=kind, index=int(index) if index.isdigit() else None)


def _uses_mla(config: object) -> bool:
    """Tell whether a model has latent attention, as its configuration class names it."""
    return getattr(getattr(config, "attention_arch", None), "name", None) == "MLA"


def _checked(tree: SourceTree, what: str, at: Location, make: Callable[[], Any]) -> StartCheck:
    def run(scripts: Sequence[Script]) -> Sequence[ExploredPath[_End]]:
        works = [partial(_told, tree, make, script) for script in scripts]
        return [_heard(answer) for answer in children.run_children(works, most=1)]

    check = StartCheck(what, at)
    try:
        explored = explore_with(run, _MOST_PATHS, settled=_not_refused, latest_first=True)
    except OSError as error:  # a child with limits may start none
        check.open = str(error)
        return check
    ends = [path.result for path in explored.paths]
    refusals = list(dict.fromkeys(one.refusal for one in ends if one.refusal is not None))
    # What hangs on a fact of the running server is told after what does not.
    check.refusals = sorted(refusals, key=lambda one: _UNKNOWN_PART in one.message)
    check.passed = any(one.refusal is None and not one.open for one in ends)
    check.open = next((one.open for one in ends if one.open), "")
    if not explored.complete and not check.passed:
        check.open = check.open or "there are more cases than were tried"
    return check


_UNKNOWN_PART = "{?}"


def _not_refused(paths: Sequence[ExploredPath[_End]]) -> bool:
    return any(path.result.refusal is None for path in paths)


def _told(tree: SourceTree, make: Callable[[], Any], script: Script) -> bytes:
    path = run_script(partial(_one_path, tree, make), script)
    path.result.forks = [(fork.text, fork.answer, fork.forced) for fork in path.forks]
    return msgspec.json.encode(path.result)


def _heard(answer: bytes | children.ChildStopped) -> ExploredPath[_End]:
    if isinstance(answer, children.ChildStopped):
        return ExploredPath(_End(open=str(answer)), [])
    end = msgspec.json.decode(answer, type=_End)
    return ExploredPath(end, [Fork(None, text, (), given, forced) for text, given, forced in end.forks])


def _one_path(tree: SourceTree, make: Callable[[], Any]) -> _End:
    begin_path()
    try:
        make()
    except _REFUSALS as error:
        at = _raised(tree, error)
        if at is None or is_about_unknown(error):
            return _End(open=why(error))
        end = _End(StartRefusal(type(error).__name__, message(error), at))
    except (Signal, RecursionError, MemoryError, Exception, SystemExit) as error:
        return _End(open=why(error))
    else:
        end = _End()
    lost = swallowed()
    return end if lost is None else _End(open=lost.reason)


def _raised(tree: SourceTree, error: BaseException) -> Location | None:
    """Return where a statement of the attention backends' raised an error; None where something else did.

    Elsewhere in the release a check may miss what only a running server has set up: its process groups.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code if trace is not None else None
    if trace is None or code is None or code.co_filename[:1] != MARK:
        return None
    path, line = code.co_filename[1:], trace.tb_lineno
    if not path.startswith(_FOLDER):
        return None
    raises = any(first <= line <= last for first, last in _raising(tree, path))
    return Location(path, line, symbol=code.co_qualname) if raises else None


@lru_cache(maxsize=32)  # few: a key keeps its tree
def _raising(tree: SourceTree, path: str) -> list[tuple[int, int]]:
    """Return the first and last lines of a file's ``raise`` and ``assert`` statements."""
    found = [one for one in ast.walk(ast.parse(tree.text(path))) if isinstance(one, (ast.Raise, ast.Assert))]
    return [(one.lineno, one.end_lineno or one.lineno) for one in found]
