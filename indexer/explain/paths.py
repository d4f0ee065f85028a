"""Running the paths of a launch: here, or in children where that is quicker or safer.

The path of a release whose wheel has its pinned hash runs here. Further paths run in children, side by
side; so does every path of any other tree, within limits, for its code is anybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from indexer.explain.resolve import Also, PathResult, resolve_path
from indexer.interpret import children
from indexer.interpret.code_cache import TreeCode, code_of
from indexer.interpret.explore import Exploration, ExploredPath, Script, explore_with, run_script
from indexer.interpret.launch import Launch
from indexer.interpret.running import run_with_deep_stack
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.interpret.unknown import Fork
from indexer.source.tree import SourceTree
from indexer.workers import cores

_ENOUGH = 16
"""Paths after which no more are run where they disagree already: the outcome is then unknown anyway."""


class _Told(msgspec.Struct):
    """A path as it comes out of a child, and what it used that was not compiled before."""

    result: PathResult
    forks: list[tuple[str, list[str], bool, bool]]
    added: list[tuple[list[str], list[str]]]


class Paths:
    """Runs the paths of launches of one tree."""

    def __init__(self, tree: SourceTree, most_paths: int) -> None:
        self._tree = tree
        self._most = most_paths
        self._trusted = tree.pinned

    def explore(
        self, launch: Launch, transformers: ConfigurationTree | None, also: Also
    ) -> Exploration[PathResult]:
        """Run the paths of a launch."""
        path = partial(resolve_path, self._tree, launch, transformers, also)
        trees = [tree for tree in (self._tree, transformers) if tree is not None]
        run = partial(self._run, path, [code_of(tree) for tree in trees])
        return explore_with(run, self._most, cores() if children.AVAILABLE else 1, _settled)

    def _run(
        self,
        path: Callable[[], PathResult],
        codes: list[TreeCode],
        scripts: Sequence[Script],
    ) -> Sequence[ExploredPath[PathResult]]:
        works = [partial(run_with_deep_stack, partial(run_script, path, script)) for script in scripts]
        first = scripts == [()]
        if not children.AVAILABLE or (self._trusted and first):
            return [work() for work in works]
        limits = None if self._trusted else children.Limits()
        tell = [partial(_tell, work, codes) for work in works]
        return [_heard(answer, codes) for answer in children.run_children(tell, limits)]


def _tell(work: Callable[[], ExploredPath[PathResult]], codes: list[TreeCode]) -> bytes:
    """Do the work in a child and return what it gave as bytes."""
    path = work()
    forks = [(fork.text, list(fork.roots), fork.answer, fork.forced) for fork in path.forks]
    return msgspec.json.encode(_Told(path.result, forks, [code.added() for code in codes]))


def _heard(answer: bytes | children.ChildStopped, codes: list[TreeCode]) -> ExploredPath[PathResult]:
    """Return the path that a child told of; one that came to no answer is a failure of ours."""
    if isinstance(answer, children.ChildStopped):
        reason = f"the process that ran SGLang's code gave no answer: {answer}"
        return ExploredPath(PathResult(None, "", reason=reason), [])
    told = msgspec.json.decode(answer, type=_Told)
    for code, added in zip(codes, told.added, strict=False):
        code.prepare(*added)
    forks = [Fork(None, text, tuple(roots), given, forced) for text, roots, given, forced in told.forks]
    return ExploredPath(told.result, forks)


def _settled(paths: Sequence[ExploredPath[PathResult]]) -> bool:
    return len(paths) >= _ENOUGH and len({path.result.ok for path in paths}) > 1
