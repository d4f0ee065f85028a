"""Everything a report says, gathered from the snapshot and from explaining the launch and its variations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import UsageError
from indexer.explain.annotate import Annotator, places_of
from indexer.explain.explain import Explainer
from indexer.explain.explanation import Explanation
from indexer.explain.launches import Question
from indexer.explain.report.variations import variations
from indexer.knowledge.schema import Algorithm, CodePath, EnvVar, Flag, Model, Rule, Snapshot
from indexer.source.tree import SourceTree

_REFUSES = ("error", "assert")
_MEMORY_PATH = "state-memory"


class Varied(msgspec.Struct):
    """A variation of the launch: what is added to it and what SGLang makes of that."""

    added: list[str]
    answer: Explanation


class Report(msgspec.Struct):
    """What is known about a launch: the source of every rendering."""

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
    most_paths: int = 24,
) -> Report:
    """Return the report's content.

    Raises:
        UsageError: the algorithm is not one of this version's.
        CannotError: something needed can't be fetched or read.
    """
    fact = _algorithm(snapshot, algorithm)
    argv = [*(["--tp-size", str(gpus)] if gpus and gpus > 1 else []), "--speculative-algorithm", algorithm]
    if draft:
        argv += ["--speculative-draft-model-path", draft]
    explainer = Explainer(tree, most_paths)
    annotator = Annotator(places_of(snapshot))

    def ask(words: list[str]) -> Explanation:
        question = Question(words, str(model) if model else None, arch, dict(env), gpu, gpus)
        return annotator.annotate(explainer.explain(question))

    answer = ask(argv)
    architecture = arch or _architecture(model)
    found = next((one for one in snapshot.models if one.architecture == architecture), None)
    varied = [Varied(added, ask([*argv, *added])) for added in variations(snapshot, answer, found)]
    names = _names(fact, answer)
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
        _flags(snapshot, names),
        varied,
        _restrictions(snapshot, names),
        _path(snapshot, fact, found),
        next((one for one in snapshot.code_paths if one.name == _MEMORY_PATH), None),
        _env_vars(snapshot),
    )


def _algorithm(snapshot: Snapshot, name: str) -> Algorithm:
    for one in snapshot.algorithms:
        if name.upper() in (one.name, *(alias.name for alias in one.aliases)):
            return one
    known = sorted({one.name for one in snapshot.algorithms})
    raise UsageError(
        f"SGLang {snapshot.source.version} has no algorithm {name}", f"it has {', '.join(known)}"
    )


def _architecture(model: Path | None) -> str | None:
    if model is None:
        return None
    try:
        return json.loads((model / "config.json").read_text())["architectures"][0]
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


def _names(algorithm: Algorithm, answer: Explanation) -> set[str]:
    """Return the fields that the algorithm reads or the launch changes."""
    return set(algorithm.flags) | {name for name in answer.fields if name.startswith("speculative")}


def _flags(snapshot: Snapshot, names: set[str]) -> list[Flag]:
    return [flag for flag in snapshot.flags if flag.dest in names and not flag.deprecated]


def _restrictions(snapshot: Snapshot, names: set[str]) -> list[Rule]:
    """Return the checks that are about a field of the algorithm, in the order they run."""
    rules = [
        rule
        for rule in snapshot.rules
        if rule.kind in _REFUSES and rule.message and any(name in rule.targets for name in names)
    ]
    return sorted(rules, key=lambda rule: (rule.order is None, rule.order or 0, rule.id))


def _path(snapshot: Snapshot, algorithm: Algorithm, model: Model | None) -> CodePath | None:
    if model is None or not model.hybrid:
        return None
    for one in snapshot.code_paths:
        if one.context.get("algorithm") == algorithm.name and one.name.startswith("decode"):
            return one
    return None


def _env_vars(snapshot: Snapshot) -> list[EnvVar]:
    found = [one for one in snapshot.env_vars if one.relevance and one.declared_at]
    # Variables read in more of the places that matter come first.
    return sorted(found, key=lambda one: (-len(one.relevance), one.name))


def as_json(report: Report) -> bytes:
    """Return the report as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2)


def plain(value: Any) -> str:
    """Return a value as a report shows it."""
    if isinstance(value, dict) and set(value) == {"unknown"}:
        return f"? ({value['unknown']})"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 90 else text[:87] + "…"
