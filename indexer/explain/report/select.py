"""Which facts of a release belong into a report: those that this algorithm, model and launch touch."""

from __future__ import annotations

import re

import msgspec

from indexer.explain.explanation import Explanation
from indexer.explain.start import StateMemory
from indexer.knowledge.algorithm_tests import AlgorithmTests
from indexer.knowledge.schema import Algorithm, CodePath, EnvVar, Flag, Model, Rule, Snapshot

_REFUSES = ("error", "assert")
_SPECULATIVE = "speculative_"
_STATE = re.compile(r"^(mamba|linear_attn|max_mamba)_")
_STRATEGY = re.compile(r"^mamba_\w*strategy$")
_STATE_FUNCTION = re.compile(r"mamba", re.IGNORECASE)
_MODEL_HOOKS = re.compile(r"model_overrides/")
_ARCHITECTURE = re.compile(r"\barchitecture\b|\bmodel_arch\b|architectures")


def names_of(snapshot: Snapshot, algorithm: Algorithm, answer: Explanation, model: Model | None) -> set[str]:
    """Return the fields that a report of this launch is about.

    These are the speculative fields that the algorithm reads or the launch changes, and for a hybrid those
    of its state; fields of other algorithms are not among them.
    """
    others = {
        part
        for one in snapshot.algorithms
        if one.name != algorithm.name
        for part in (one.name.lower(), one.name.lower().removesuffix("3"))
    }
    mine = algorithm.name.lower()
    found = {name for name in (*algorithm.flags, *answer.fields) if name.startswith(_SPECULATIVE)}
    found = {
        name for name in found if mine in name or not any(f"_{other}_" in f"{name}_" for other in others)
    }
    if model is not None and model.hybrid:
        found |= {one.dest for one in snapshot.flags if _STATE.match(one.dest)}
    return found


def launch_flags(
    snapshot: Snapshot, algorithm: Algorithm, answer: Explanation, argv: list[str], model: Model | None
) -> list[Flag]:
    """Return the flags of the launch, then those that SGLang sets for the algorithm and the model."""
    given = {word for word in argv if word.startswith("--")}
    automatic = {at.symbol for at in algorithm.automatic if not _MODEL_HOOKS.search(at.path)}
    set_by_model = (
        {
            name
            for entry in (*model.overrides, *model.backends)
            if isinstance(entry.get("sets"), dict)
            for name in entry["sets"]
        }
        if model is not None
        else set()
    )
    wanted = {
        name
        for name in names_of(snapshot, algorithm, answer, model)
        if name in answer.fields or name in automatic
    } | ((automatic | set_by_model) & answer.fields.keys())
    flags = [one for one in snapshot.flags if not one.deprecated]
    first = [one for one in flags if given & set(one.option_strings)]
    return first + [one for one in flags if one.dest in wanted and one not in first]


def memory_flags(snapshot: Snapshot, path: CodePath | None) -> list[Flag]:
    """Return the flags that the functions on the path of the state's memory read."""
    if path is None:
        return []
    places = {(step.at.path, step.function) for step in path.steps}
    return [
        flag
        for flag in snapshot.flags
        if not flag.deprecated and any((read.at.path, read.at.symbol) in places for read in flag.read_at)
    ]


def restrictions(
    snapshot: Snapshot, algorithm: Algorithm, names: set[str], model: Model | None, answer: Explanation
) -> list[Rule]:
    """Return the checks that can refuse this algorithm on this model.

    A check counts that is about one of the report's fields or asks for the algorithm; one that another
    algorithm or another model decides does not. Those about fields that SGLang sets for the algorithm, and
    those that name the model, come first, then the rest, each in the order they run.
    """
    tests = AlgorithmTests(algorithm)
    automatic = {at.symbol for at in algorithm.automatic if not _MODEL_HOOKS.search(at.path)}
    core = {name for name in names if name in automatic or name in answer.fields}
    mine = {entry.get("rule") for entry in (*model.overrides, *model.backends)} if model else set()
    found = [rule for rule in snapshot.rules if rule.kind in _REFUSES and _applies(rule, tests, names, mine)]

    def place(rule: Rule) -> tuple[bool, bool, int, str]:
        first = rule.id in mine or bool(core & {*rule.targets, *_own_flags(rule)})
        return not first, rule.order is None, rule.order or 0, rule.id

    return sorted(found, key=place)


def _own_flags(rule: Rule) -> set[str]:
    """Return the fields that a check tests itself, not in its callers."""
    return {name for one in rule.guard if not one.how.startswith("caller") for name in one.flags}


def _applies(rule: Rule, tests: AlgorithmTests, names: set[str], mine: set) -> bool:
    asked = False
    for condition in rule.guard:
        value, _ = tests.reduce(condition.text)
        if value is not None and value is not condition.holds:
            return False
        asked = asked or (tests.asked and not condition.how.startswith("caller"))
    about = any(name in rule.targets for name in names)
    if rule.id in mine:
        return asked or about
    of_a_model = _MODEL_HOOKS.search(rule.at.path) or any(
        _ARCHITECTURE.search(one.text) and one.holds for one in rule.guard
    )
    return (asked or about) and not of_a_model


def fired(snapshot: Snapshot, answer: Explanation) -> dict[str, Rule]:
    """Return the rules that wrote a field of the launch, by id."""
    wrote = {cause.rule for change in answer.fields.values() for cause in change.by}
    return {rule.id: rule for rule in snapshot.rules if rule.id in wrote}


def strategies(snapshot: Snapshot) -> list[Rule]:
    """Return the rules that choose the radix-cache strategy for every model with recurrent state."""
    return [
        rule
        for rule in snapshot.rules
        if rule.kind == "override"
        and rule.targets
        and _STRATEGY.search(rule.targets[0])
        and not _MODEL_HOOKS.search(rule.at.path)
        and not any(one.how == "provider" for one in rule.guard)
    ]


def code_path(snapshot: Snapshot, algorithm: Algorithm, model: Model | None) -> CodePath | None:
    """Return the decode path of an algorithm on a hybrid model."""
    if model is None or not model.hybrid:
        return None
    for one in snapshot.code_paths:
        if one.context.get("algorithm") == algorithm.name and one.name.startswith("decode"):
            return one
    return None


def env_vars(snapshot: Snapshot, paths: list[CodePath], memory: StateMemory | None) -> list[EnvVar]:
    """Return the variables that functions of the code paths read, or the files that size the state.

    Of their reads only these are kept.
    """
    functions = {(step.at.path, step.function) for path in paths for step in path.steps}
    files = {at.path for what, at in memory.places.items() if "slot" in what} if memory else set()
    found = []
    for variable in snapshot.env_vars:
        reads = [
            one
            for one in variable.read_at
            if (one.at.path, one.at.symbol) in functions
            or (one.at.path in files and _STATE_FUNCTION.search(one.at.symbol or ""))
        ]
        if reads:
            found.append(msgspec.structs.replace(variable, read_at=reads))
    return sorted(found, key=lambda one: one.name)
