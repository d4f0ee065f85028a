"""Whether the attention backend suits a hybrid model: the check of a server that makes its backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from indexer.collector import collector_paused
from indexer.explain.launches import PreparedLaunch, Question, prepare
from indexer.explain.start.outside import open_resolved
from indexer.explain.start.standin import publish, runner_of
from indexer.interpret.children import ChildStopped, contained
from indexer.interpret.explore import explore
from indexer.interpret.running import innermost_frame, run_with_deep_stack
from indexer.interpret.signals import Signal, begin_path, swallowed
from indexer.knowledge.schema import Location
from indexer.source.tree import PACKAGE_ROOT, SourceTree

_WRAPPER = "attn_backend_wrapper"
_FOLDER = f"{PACKAGE_ROOT}/srt/layers/attention"
_REFUSALS = (AssertionError, ValueError, NotImplementedError)
_MOST_PATHS = 6


class BackendRefusal(msgspec.Struct):
    """The server would stop when it makes its attention backend: how, with which message, where."""

    exception: str
    message: str
    at: Location


def backend_refusal(tree: SourceTree, question: Question) -> BackendRefusal | None:
    """Return how a resolved launch is refused when the server makes its attention backend.

    None where it isn't, or where that can't be told: what follows the check needs a running server.

    Raises:
        UsageError: the question names an unknown GPU.
        CannotError: something needed can't be fetched or read.
    """
    mark = f"def {_WRAPPER}(".encode()
    path = next((one for one in tree.walk(_FOLDER) if mark in tree.read(one)), None)
    if path is None:
        return None
    run = partial(_one_path, tree, prepare(tree, question), path)
    with collector_paused():
        answer = contained(partial(_explored, run), BackendRefusal | None, tree.pinned)
    return None if isinstance(answer, ChildStopped) else answer


def _explored(run: Callable[[], BackendRefusal | None]) -> BackendRefusal | None:
    """Return what all paths agree on."""
    found = run_with_deep_stack(partial(explore, run, _MOST_PATHS))
    first = found.paths[0].result
    return first if found.complete and all(one.result == first for one in found.paths) else None


def _one_path(tree: SourceTree, prepared: PreparedLaunch, path: str) -> BackendRefusal | None:
    begin_path()
    try:
        opened = open_resolved(tree, prepared)
        publish(opened.program, opened.record)
        dotted = path.removeprefix("python/").removesuffix(".py").replace("/", ".")
        runner = runner_of(opened, use_mla_backend=_uses_mla(opened.config))
        getattr(opened.program.import_module(dotted), _WRAPPER)(runner, None)
    except _REFUSALS as error:
        frame = innermost_frame(error)
        if swallowed() is None and frame is not None and frame[2] == _WRAPPER:
            return BackendRefusal(
                type(error).__name__, str(error), Location(frame[0], frame[1], None, _WRAPPER)
            )
    except (Signal, RecursionError, MemoryError, Exception, SystemExit):
        return None  # past the check, or before it: nothing is known of it
    return None


def _uses_mla(config: object) -> bool:
    """Tell whether a model has latent attention, as its configuration class names it."""
    return getattr(getattr(config, "attention_arch", None), "name", None) == "MLA"
