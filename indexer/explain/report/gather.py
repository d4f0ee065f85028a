"""Everything a report says, gathered from the snapshot and from explaining the launch and its variations."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import msgspec

from indexer.errors import UsageError
from indexer.explain.annotate import annotator_for
from indexer.explain.explain import Explainer, Watched
from indexer.explain.explanation import UNKNOWN, Explanation, StartCheck, UnknownFact
from indexer.explain.launches import Question
from indexer.explain.report.select import (
    code_path,
    env_vars,
    fired,
    launch_flags,
    memory_flags,
    names_of,
    restrictions,
    strategies,
)
from indexer.explain.report.taken import TakenStep, checking_functions, taken
from indexer.explain.report.variations import (
    DraftNumbers,
    fields_set,
    levers,
    numbers_and_backends,
    numbers_to_give,
    variations,
)
from indexer.explain.resolve import Also
from indexer.explain.start import StateMemory, state_memory
from indexer.extract.code_paths.extract import code_path_variant
from indexer.interpret import children
from indexer.interpret.code_cache import TreeCode
from indexer.knowledge.launched import UsedModel
from indexer.knowledge.lookup import spellings
from indexer.knowledge.nearest import nearest
from indexer.knowledge.pairings import SLIDING_WINDOW, Pairing, pairings_of_model
from indexer.knowledge.path_variants import hybrid_of
from indexer.knowledge.schema import Algorithm, CodePath, EnvVar, Flag, Model, Rule, Snapshot
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore

_MEMORY_PATH = "state-memory"
_INDEX = "model.safetensors.index.json"
GIB = 1 << 30
CHECKPOINT = "CHECKPOINT"
"""What a report calls the model's place: the folder that is given holds only its configuration, maybe."""


class Varied(msgspec.Struct):
    """A variation of the launch: what is added to it and what SGLang makes of that.

    ``start`` is what a starting server makes, where the arguments are accepted; empty where that isn't
    known. ``sets`` are the fields that the added words set.
    """

    added: list[str]
    answer: Explanation
    start: list[StartCheck] = []
    sets: list[str] = []


class Proof(msgspec.Struct):
    """What real launches say about a subject: on which machine, with which version, how many of what."""

    subject: str
    machine: str
    version: str
    state: str
    launches: dict[str, list[str]]
    line: str | None = None


class Report(msgspec.Struct):
    """What is known about a launch: the source of every rendering.

    ``weights_gib`` are the weights on each GPU, None where they aren't known; ``fired`` the rules that
    wrote a field, by id; ``strategies`` those that choose the radix-cache strategy of a recurrent state;
    ``launched`` the models that the evidence's launches had.
    """

    version: str
    architecture: str | None
    algorithm: str
    gpu: str | None
    gpus: int | None
    argv: list[str]
    answer: Explanation
    model: Model | None
    algorithm_fact: Algorithm | None
    flags: list[Flag]
    variations: list[Varied]
    restrictions: list[Rule]
    code_path: CodePath | None
    memory_path: CodePath | None
    env_vars: list[EnvVar]
    start: list[StartCheck] = []
    steps: list[TakenStep] = []
    pairing: Pairing | None = None
    memory: StateMemory | None = None
    memory_levers: list[tuple[list[str], StateMemory]] = []
    memory_flags: list[Flag] = []
    weights_gib: float | None = None
    evidence: list[Proof] = []
    fired: dict[str, Rule] = {}
    strategies: list[Rule] = []
    draft_numbers: list[DraftNumbers] = []
    launched: list[UsedModel] = []


def gather(
    tree: SourceTree,
    snapshot: Snapshot,
    *,
    model: Path | None,
    arch: str | None,
    algorithm: str,
    gpu: str | None,
    gpus: int | None,
    draft: str | None,
    env: dict[str, str],
    weights_gib: float | None = None,
    most_paths: int = 24,
) -> Report:
    """Return the report's content, but for its evidence.

    Raises:
        UsageError: the algorithm is not one of this version's.
        CannotError: something needed can't be fetched or read.
    """
    fact = _algorithm(snapshot, algorithm)
    argv = [*(["--tp-size", str(gpus)] if gpus and gpus > 1 else []), "--speculative-algorithm", algorithm]
    if draft:
        argv += ["--speculative-draft-model-path", draft]
    explainer = Explainer(tree, most_paths)
    annotator = annotator_for(snapshot)

    def question(words: list[str]) -> Question:
        named = ["--model-path", CHECKPOINT] if model is not None else []
        return Question([*named, *words], str(model) if model else None, arch, dict(env), gpu, gpus)

    def annotated(watched: Watched, words: list[str]) -> Watched:
        annotator.annotate(watched.answer, question(words))
        annotator.name_rules(watched.start)
        return watched

    asked = Also(steps=True, lines_of=checking_functions(snapshot), start=True)
    launched = annotated(explainer.watch(question(argv), asked), argv)
    answer = launched.answer
    architecture = arch or _architecture(model)
    found = next((one for one in snapshot.models if one.architecture == architecture), None)
    kind = (found.hybrid or {}).get("kind") if found is not None else None
    hybrid = kind is not None and kind != SLIDING_WINDOW
    also = Also(start=True)
    tried = variations(snapshot, answer, found)
    varied = []
    for added, told in zip(
        tried, _together(explainer, also, [question([*argv, *one]) for one in tried]), strict=True
    ):
        watched = annotated(told, [*argv, *added])
        varied.append(Varied(added, watched.answer, watched.start, fields_set(snapshot, added)))
    ways = numbers_to_give(snapshot, answer)
    numbers = [numbers_and_backends(snapshot, argv, [], answer)] + [
        numbers_and_backends(snapshot, argv, one.added, one.answer) for one in varied if one.added in ways
    ]
    weights = weights_gib if weights_gib is not None else _weights(model, gpus or 1)
    names = names_of(snapshot, fact, answer, found)
    path = _followed(tree, snapshot, code_path(snapshot, fact, found), found)
    memory_path = next((one for one in snapshot.code_paths if one.name == _MEMORY_PATH), None)
    memory = state_memory(tree, question(argv), weights) if hybrid else None
    pulled = levers(snapshot, answer) if memory is not None and memory.slot_bytes else []
    sized = [(added, state_memory(tree, question([*argv, *added]), weights)) for added in pulled]
    return Report(
        snapshot.source.version,
        architecture,
        algorithm,
        gpu,
        gpus,
        argv,
        answer,
        found,
        fact,
        launch_flags(snapshot, fact, answer, argv, found),
        varied,
        restrictions(snapshot, fact, names, found, answer),
        path,
        memory_path,
        env_vars(snapshot, [one for one in (path, memory_path) if one], memory),
        launched.start,
        taken(tree, snapshot, launched.steps),
        _pairing(snapshot, found, fact),
        memory,
        [(added, one) for added, one in sized if one is not None],
        memory_flags(snapshot, memory_path),
        weights,
        fired=fired(snapshot, answer),
        strategies=strategies(snapshot) if found is not None and found.radix else [],
        draft_numbers=numbers,
    )


def _together(explainer: Explainer, also: Also, questions: list[Question]) -> list[Watched]:
    """Return what is made of each question: side by side, each in a child that ends with all its garbage."""
    if not children.AVAILABLE:
        return [explainer.watch(one, also) for one in questions]
    codes = explainer.codes(questions[0]) if questions else []
    works = [partial(_tell, explainer, also, codes, one) for one in questions]
    answers = children.run_children(works)
    found = [_heard(answer, codes) for answer in answers]
    for code in codes:
        code.save()
    return found


class _Told(msgspec.Struct):
    """What a child made of a question, and what it used that was not compiled before."""

    watched: Watched
    added: list[tuple[list[str], list[str]]]


def _tell(explainer: Explainer, also: Also, codes: list[TreeCode], question: Question) -> bytes:
    watched = explainer.watch(question, also, keep_code=False)
    return msgspec.json.encode(_Told(watched, [code.added() for code in codes]))


def _heard(answer: bytes | children.ChildStopped, codes: list[TreeCode]) -> Watched:
    if isinstance(answer, children.ChildStopped):
        return Watched(Explanation("", UNKNOWN, unknowns=[UnknownFact("outcome", str(answer))]))
    told = msgspec.json.decode(answer, type=_Told)
    for code, added in zip(codes, told.added, strict=True):
        code.prepare(*added)
    return told.watched


def _followed(
    tree: SourceTree, snapshot: Snapshot, path: CodePath | None, model: Model | None
) -> CodePath | None:
    """Return an algorithm's decode path as it is for the model; where that can't be followed, for the model
    that it is shipped for, which is told with it."""
    hybrid = hybrid_of(snapshot, model) if model is not None else None
    if path is None or hybrid is None or path.context.get("architecture") == hybrid.architecture:
        return path
    return code_path_variant(tree, FactStore(cache_folder("facts")), path.name, model=hybrid) or path


def _pairing(snapshot: Snapshot, model: Model | None, algorithm: Algorithm) -> Pairing | None:
    if model is None or model.is_draft:
        return None
    pairs = pairings_of_model(snapshot, model)
    return next((pairing for one, pairing in pairs if one.name == algorithm.name), None)


def _weights(model: Path | None, gpus: int) -> float | None:
    """Return the GiB of weights on each GPU, spread evenly, from the checkpoint's index; None without one."""
    try:
        total = json.loads((model / _INDEX).read_text())["metadata"]["total_size"] if model else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return total / gpus / GIB if isinstance(total, (int, float)) else None


def _algorithm(snapshot: Snapshot, name: str) -> Algorithm:
    for one in snapshot.algorithms:
        if name.upper() in (one.name, *(alias.name for alias in one.aliases)):
            return one
    known = sorted({spelled for one in snapshot.algorithms for spelled in spellings(one)})
    near = nearest(name, known, 1)
    raise UsageError(
        f"SGLang {snapshot.source.version} has no algorithm {name}",
        f"{f'did you mean {near[0]}? ' if near else ''}it has {', '.join(known)}",
    )


def _architecture(model: Path | None) -> str | None:
    if model is None:
        return None
    try:
        return json.loads((model / "config.json").read_text())["architectures"][0]
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


def as_json(report: Report) -> bytes:
    """Return the report as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2)
