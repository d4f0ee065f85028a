"""What the rules, reads and workers say about each algorithm."""

from __future__ import annotations

import re

from indexer.extract.algorithms.closure import WorkerClosure
from indexer.extract.algorithms.logic import MemberLogic
from indexer.extract.algorithms.members import NO_ALGORITHM, find_registry
from indexer.extract.guard_texts import GuardTexts, tests
from indexer.knowledge.schema import Algorithm, Location, Read, Rule
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import Definition, ModuleGraph

MODEL_CONFIG = f"{PACKAGE_ROOT}/srt/configs/model_config.py"
_DRAFT_PATH = "speculative_draft_model_path"
_FALLBACK = re.compile(r"\bmodel_path or \w+\.model_path\b")
_UNSET = re.compile(rf"{_DRAFT_PATH} is None|not [\w.]*{_DRAFT_PATH}\b")
_SET = re.compile(rf"{_DRAFT_PATH} is not None|(?<!not )(?<![\w.]){_DRAFT_PATH}$")
_SPECULATION = re.compile(r"\bspeculative_|SPEC_")
_REFUSALS = ("error", "assert")
_ANY_OTHER = "SOME_OTHER"
"""An algorithm that no test names."""


def link_algorithms(
    graph: ModuleGraph, algorithms: list[Algorithm], rules: list[Rule], reads: dict[str, list[Read]]
) -> None:
    """Fill in what other facts say: rules, defaults chosen, draft model, arguments read by the workers.

    ``reads`` are the places that read each field of the record. The algorithms are changed in place.
    """
    registry = find_registry(graph)
    if registry is None:
        return
    logic = MemberLogic(graph, registry)
    texts = GuardTexts(graph, logic)
    members = [one.name for one in algorithms if one.name != NO_ALGORITHM]
    about = [rule for rule in rules if _is_about(rule, texts, [one.name for one in algorithms])]
    # Where all members of an early release pass a test that names them, only another name is told apart.
    special = {rule.id for rule in about if _tells_apart(rule, texts, [*members, _ANY_OTHER])}
    workers = {worker.class_name for one in algorithms for worker in one.workers}
    closure = WorkerClosure(graph, {registry.definition.qualname, *workers})
    reached = {one.name: _reached(graph, closure, one) for one in algorithms if one.name in members}
    own_files = _own_files(reached)
    for algorithm in algorithms:
        if algorithm.name == NO_ALGORITHM:
            continue
        applying = [rule for rule in about if texts.path(rule, algorithm.name) is not None]
        algorithm.rules = [rule.id for rule in applying]
        own = [rule for rule in applying if rule.id in special]
        algorithm.automatic = [_target_line(graph, rule) for rule in own if rule.kind == "override"]
        _read_arguments(algorithm, reached[algorithm.name], own_files[algorithm.name], reads)
        _draft_model(graph, algorithm, own, reached[algorithm.name])
        algorithm.tested_before_alias = _tested_too_early(algorithm, rules, texts)


def _is_about(rule: Rule, texts: GuardTexts, members: list[str]) -> bool:
    """Return whether a rule is about speculation: it tells algorithms apart or tests their settings."""
    last = [one.text for one in tests(rule)[-2:]]
    return any(_SPECULATION.search(one) for one in (*rule.targets, *last)) or _tells_apart(
        rule, texts, members
    )


def _tells_apart(rule: Rule, texts: GuardTexts, members: list[str]) -> bool:
    """Return whether the rule applies to some algorithms and not to others."""
    return any(
        len({texts.reduce(condition, rule, member) for member in members}) > 1 for condition in tests(rule)
    )


def _target_line(graph: ModuleGraph, rule: Rule) -> Location:
    """Return the line of an override that names what it sets."""
    target = rule.targets[0] if rule.targets else ""
    name = target.rpartition(".")[2]
    lines = graph.tree.text(rule.at.path).splitlines()
    for number in range(rule.at.line, (rule.at.end_line or rule.at.line) + 1):
        if re.search(rf"\b{re.escape(name)}\b", lines[number - 1]):
            return Location(rule.at.path, number, symbol=name)
    return Location(rule.at.path, rule.at.line, rule.at.end_line)


def _read_arguments(
    algorithm: Algorithm, reached: set[tuple[str, str]], own_files: set[str], reads: dict[str, list[Read]]
) -> None:
    """Note which fields the algorithm's workers read, in what they reach or in files of their own."""
    found: dict[str, list[Read]] = {}
    for name, places in reads.items():
        own = [place for place in places if place.at.path in own_files or _inside(place, reached)]
        if own:
            found[name] = own
    algorithm.flag_reads = dict(sorted(found.items()))
    algorithm.flags = list(algorithm.flag_reads)


def _reached(graph: ModuleGraph, closure: WorkerClosure, algorithm: Algorithm) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for definition in _worker_classes(graph, algorithm):
        found |= closure.of(definition)
    return found


def _own_files(reached: dict[str, set[tuple[str, str]]]) -> dict[str, set[str]]:
    """Return for each algorithm the files that only workers like its own reach."""
    users: dict[str, set[str]] = {}
    for name, places in reached.items():
        for path, _ in places:
            users.setdefault(path, set()).add(name)
    return {
        name: {path for path, names in users.items() if name in names and _same(names, reached)}
        for name in reached
    }


def _same(names: set[str], reached: dict[str, set[tuple[str, str]]]) -> bool:
    first, *others = [reached[name] for name in names]
    return all(other == first for other in others)


def _worker_classes(graph: ModuleGraph, algorithm: Algorithm) -> list[Definition]:
    found = []
    for worker in algorithm.workers:
        module = graph.module(worker.class_at.path) if worker.class_at else None
        found += graph.definitions(module, worker.class_name) if module else []
    return found


def _inside(place: Read, reached: set[tuple[str, str]]) -> bool:
    parts = (place.at.symbol or "").split(".")
    return any((place.at.path, ".".join(parts[:size])) in reached for size in range(1, len(parts) + 1))


def _draft_model(
    graph: ModuleGraph, algorithm: Algorithm, own: list[Rule], reached: set[tuple[str, str]]
) -> None:
    """Say whether a draft checkpoint is asked for, told by the checks and overrides of its path."""
    required, refused, copied = [], [], []
    for rule in own:
        tests = " and ".join(
            condition.text if condition.holds else f"not ({condition.text})" for condition in rule.guard[-2:]
        )
        if rule.kind in _REFUSALS and _UNSET.search(tests):
            required.append(rule.at)
        elif rule.kind in _REFUSALS and _SET.search(tests) and len(rule.guard) < 8:
            refused.append(rule.at)
        elif (
            rule.kind == "override" and _DRAFT_PATH in rule.targets and "model_path" in " ".join(rule.values)
        ):
            copied.append(_target_line(graph, rule))
    if copied:
        algorithm.draft_model = "the target's own layers, or a separate checkpoint"
        algorithm.draft_model_at = copied + required + _unset_means_target(graph)
    elif required:
        algorithm.draft_model, algorithm.draft_model_at = "required", required
    elif refused:
        algorithm.draft_model, algorithm.draft_model_at = "refused", refused
    elif not _loads_draft(graph, reached):
        algorithm.draft_model = "none"
    else:
        algorithm.draft_model = "a separate checkpoint, not enforced"


def _unset_means_target(graph: ModuleGraph) -> list[Location]:
    """Return where a model's configuration is made from the target's path when no path is given."""
    module = graph.module(MODEL_CONFIG)
    for number, line in enumerate(graph.tree.text(MODEL_CONFIG).splitlines() if module else (), 1):
        if _FALLBACK.search(line):
            return [Location(MODEL_CONFIG, number, None, "model_path")]
    return []


def _loads_draft(graph: ModuleGraph, reached: set[tuple[str, str]]) -> bool:
    """Return whether anything a worker reaches loads a model as a draft."""
    for path, qualname in reached:
        module = graph.module(path)
        for record in module.functions if module else ():
            if record.qualname == qualname:
                lines = graph.tree.text(path).splitlines()[record.line - 1 : record.end_line]
                if any("is_draft_worker=True" in one for one in lines):
                    return True
    return False


def _tested_too_early(algorithm: Algorithm, rules: list[Rule], texts: GuardTexts) -> list[Location]:
    """Return the tests for this name that run before another spelling of it has been replaced."""
    spelling = next((one for one in algorithm.aliases if one.at.symbol), None)
    resolved = [
        rule.order
        for rule in rules
        if spelling is not None and rule.order is not None and _covers(rule.at, spelling.at)
    ]
    if spelling is None or not resolved:
        return []
    found: dict[tuple[str, int], Location] = {}
    for rule in rules:
        if rule.order is None or rule.order >= min(resolved):
            continue
        for condition in tests(rule):
            at = condition.at or rule.at
            own, _ = texts.reduce(condition, rule, algorithm.name)
            other, _ = texts.reduce(condition, rule, spelling.name)
            if None not in (own, other) and own is not other:
                found[at.path, at.line] = at
    return [found[key] for key in sorted(found)]


def _covers(place: Location, inner: Location) -> bool:
    return place.path == inner.path and place.line <= inner.line <= (place.end_line or place.line)
