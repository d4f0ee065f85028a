"""What will SGLang do with this command? One launch, one version."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from indexer.collector import collector_postponed
from indexer.explain.architectures import ARCH_FOLDER
from indexer.explain.explanation import (
    MODEL,
    STARTS,
    TOO_FEW_GPUS,
    UNKNOWN,
    Explanation,
    StartCheck,
    UnknownFact,
)
from indexer.explain.join import join
from indexer.explain.launches import PreparedLaunch, Question, has_model, prepare
from indexer.explain.paths import Paths
from indexer.explain.ranks import gpus_needed
from indexer.explain.resolve import Also, PathResult
from indexer.explain.steps import Step
from indexer.interpret.code_cache import TreeCode, code_of
from indexer.interpret.explore import DEFAULT_PATHS, Exploration
from indexer.source.tree import SourceTree

_MOST_SUPPOSED = 40
_NO_CONFIGURATION = "its config.json is not at hand: --model gives its folder, --arch an architecture instead"


class Watched(msgspec.Struct):
    """An explanation and what else was asked: the resolver's steps, and what a starting server makes.

    Where there are several paths, ``steps`` are those of the first that comes through; ``start`` is empty
    where they differ.
    """

    answer: Explanation
    steps: list[Step] = []
    start: list[StartCheck] = []


class Explainer:
    """Answers questions about one SGLang tree; keeps what they have in common."""

    def __init__(self, tree: SourceTree, most_paths: int = DEFAULT_PATHS) -> None:
        self.tree = tree
        self._paths = Paths(tree, most_paths)
        self._supposed: dict[str, str | None] = {}

    def explain(self, question: Question) -> Explanation:
        """Return what the version makes of a launch.

        Raises:
            UsageError: the question names an unknown GPU.
            CannotError: something needed can't be fetched or read.
        """
        return self.watch(question, Also()).answer

    def codes(self, question: Question) -> list[TreeCode]:
        """Return the compiled code of the trees that a question is answered from.

        Raises:
            UsageError: the question names an unknown GPU.
            CannotError: something needed can't be fetched or read.
        """
        return self._codes(prepare(self.tree, question))

    def _codes(self, prepared: PreparedLaunch) -> list[TreeCode]:
        return [code_of(tree) for tree in (self.tree, prepared.transformers) if tree is not None]

    def watch(self, question: Question, also: Also, keep_code: bool = True) -> Watched:
        """Return what the version makes of a launch, and what else is asked.

        Without ``keep_code`` what was compiled for it is not kept in the cache: for a child, whose parent
        keeps it.

        Raises:
            UsageError: the question names an unknown GPU.
            CannotError: something needed can't be fetched or read.
        """
        prepared = prepare(self.tree, question)
        with collector_postponed():  # a path allocates many objects that die together
            explored = self.explore(prepared, question, also)
            if keep_code:
                for code in self._codes(prepared):
                    code.save()
            answer = join(self.tree.version, explored, prepared.assumed)
        if prepared.lacking and answer.outcome == STARTS:
            # Names are bound when they are used, so an import that would fail may not have been met.
            answer.outcome = UNKNOWN
            answer.unknowns.append(
                UnknownFact(
                    f"package {', '.join(prepared.lacking)}",
                    "this release requires it, and whether a module is loaded that imports it is not known",
                )
            )
        if answer.outcome == UNKNOWN and not has_model(question):
            answer.unknowns.insert(0, UnknownFact(MODEL, _NO_CONFIGURATION))
        if answer.outcome == STARTS:
            self._count_gpus(answer, prepared, explored)
        answer.id = question.id
        results = [path.result for path in explored.paths]
        resolved = [one for one in results if one.ok]
        watched = Watched(answer, (resolved or results)[0].steps)
        if resolved and all(one.start == resolved[0].start for one in resolved):
            watched.start = resolved[0].start
        return _without_folder(watched) if question.arch and not question.model else watched

    def _count_gpus(
        self, answer: Explanation, prepared: PreparedLaunch, explored: Exploration[PathResult]
    ) -> None:
        """Tell where a launch that is accepted starts more processes than its node has GPUs."""
        there, gpu = prepared.launch.gpu_count, prepared.launch.gpu
        if not there or gpu is None:
            return
        needed = {gpus_needed(self.tree, path.result.resolved) for path in explored.paths}
        least = needed.pop() if len(needed) == 1 else None
        if least is None or least.gpus <= there:
            return
        said = (
            f"the server starts {least.processes} processes on a node ({least.sizes}), each on a GPU of its "
            f"own, the last on number {least.gpus - 1}; there are {there}, numbered from 0"
        )
        answer.unknowns.insert(0, UnknownFact(TOO_FEW_GPUS, said, least.at))

    def explore(self, prepared: PreparedLaunch, question: Question, also: Also) -> Exploration[PathResult]:
        """Run the paths of a launch.

        A package that the release can't be imported without is taken to be installed: only direct
        requirements are in its metadata.
        """
        said = {name.replace("-", "_") for name in question.packages}
        for _ in range(_MOST_SUPPOSED):
            launch = replace(prepared.launch, packages={**self._supposed, **prepared.launch.packages})
            found = self._paths.explore(launch, prepared.transformers, also)
            missing = {path.result.missing for path in found.paths if path.result.missing}
            unsaid = {name.partition(".")[0] for name in missing if name} - said - set(self._supposed)
            if not unsaid:
                break
            self._supposed.update(dict.fromkeys(unsaid, ""))
        return found


def _without_folder(watched: Watched) -> Watched:
    """Return an answer that names the model instead of the folder in memory that stands for it."""
    told = msgspec.json.encode(watched).replace(ARCH_FOLDER.encode(), b"<model>")
    return msgspec.json.decode(told, type=Watched)


def explain(tree: SourceTree, question: Question) -> Explanation:
    """Return what a tree makes of a launch; for many questions use an ``Explainer``."""
    return Explainer(tree).explain(question)
