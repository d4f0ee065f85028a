"""Which facts of a release a report is about."""

from __future__ import annotations

from indexer.explain.explanation import Cause, Explanation, FieldChange
from indexer.explain.report.select import (
    env_vars,
    fired,
    launch_flags,
    memory_flags,
    names_of,
    restrictions,
    strategies,
)
from indexer.knowledge.schema import (
    SCHEMA_VERSION,
    Algorithm,
    CodePath,
    Condition,
    EnvVar,
    Flag,
    Location,
    Model,
    Read,
    Rule,
    Snapshot,
    Source,
    Step,
)


def _at(line: int, path: str = "a.py", symbol: str | None = None) -> Location:
    return Location(path, line, symbol=symbol)


def _flag(dest: str, reads: list[Read] | None = None) -> Flag:
    return Flag(
        dest.replace("_", "-"), [f"--{dest.replace('_', '-')}"], dest, "_StoreAction", read_at=reads or []
    )


def _rule(name: str, line: int, guard: list[str], targets: list[str] | None = None, **more) -> Rule:
    conditions = [Condition(one, at=_at(line)) for one in guard]
    return Rule(
        name, more.pop("kind", "error"), _at(line), "f", conditions, targets or [], order=line, **more
    )


EAGLE = Algorithm(
    "EAGLE",
    _at(1),
    flags=["speculative_num_steps", "speculative_ngram_depth", "device"],
    automatic=[_at(2, symbol="speculative_num_steps"), _at(3, "x/model_overrides/y.py", symbol="page_size")],
)
SIZING = _at(50, "pool.py", "Pools.size")
PATH = CodePath(
    "state-memory", "Memory", steps=[Step("a", "Pools.size", _at(40, "pool.py"), 0, waypoint="size")]
)
SNAPSHOT = Snapshot(
    SCHEMA_VERSION,
    Source("1", "folder"),
    flags=[
        _flag("speculative_algorithm"),
        _flag("speculative_num_steps"),
        _flag("speculative_ngram_depth"),
        _flag("mamba_cache_strategy", [Read(SIZING)]),
        _flag("device"),
    ],
    algorithms=[EAGLE, Algorithm("NGRAM", _at(9))],
    rules=[
        _rule("steps", 10, ["cfg.speculative_num_steps is None"], ["speculative_num_steps"]),
        _rule("other", 11, ['cfg.speculative_algorithm == "NGRAM"'], ["speculative_num_steps"]),
        _rule("one-model", 12, ['architecture in ("X")'], ["speculative_num_steps"]),
        _rule("asks", 13, ['cfg.speculative_algorithm == "EAGLE" and cfg.pp_size > 1']),
        _rule("unrelated", 14, ["cfg.port < 0"], ["port"]),
        _rule("auto", 15, ["cfg.a"], ["mamba_cache_strategy"], kind="override", values=['"extra"']),
    ],
    env_vars=[
        EnvVar("SIZE", read_at=[Read(SIZING), Read(_at(1, "other.py"))]),
        EnvVar("OTHER", read_at=[Read(_at(2, "other.py", "f"))]),
    ],
)
ANSWER = Explanation(
    "1", "starts", fields={"speculative_num_steps": FieldChange(None, 3, by=[Cause(_at(10), "steps")])}
)
HYBRID = Model("River", _at(20), hybrid={"kind": "GDN"}, radix={"strategies": ["no_buffer"]})


def test_fields_of_other_algorithms_are_not_the_report_s() -> None:
    assert names_of(SNAPSHOT, EAGLE, ANSWER, None) == {"speculative_num_steps"}
    assert names_of(SNAPSHOT, EAGLE, ANSWER, HYBRID) == {"speculative_num_steps", "mamba_cache_strategy"}


def test_flags_of_the_launch_come_first_then_what_is_chosen() -> None:
    argv = ["--speculative-algorithm", "EAGLE"]
    flags = launch_flags(SNAPSHOT, EAGLE, ANSWER, argv, HYBRID)
    assert [one.dest for one in flags] == ["speculative_algorithm", "speculative_num_steps"]
    assert [one.dest for one in memory_flags(SNAPSHOT, PATH)] == ["mamba_cache_strategy"]


def test_checks_of_other_algorithms_and_models_are_left_out() -> None:
    names = names_of(SNAPSHOT, EAGLE, ANSWER, None)
    found = restrictions(SNAPSHOT, EAGLE, names, None, ANSWER)
    assert [rule.id for rule in found] == ["steps", "asks"]
    mine = Model("X", _at(20), overrides=[{"rule": "one-model", "kind": "error"}])
    found = restrictions(SNAPSHOT, EAGLE, names, mine, ANSWER)
    assert [rule.id for rule in found] == ["steps", "one-model", "asks"]


def test_variables_are_those_that_the_paths_read_and_only_there() -> None:
    (variable,) = env_vars(SNAPSHOT, [PATH], None)
    assert (variable.name, [one.at for one in variable.read_at]) == ("SIZE", [SIZING])


def test_rules_that_fired_and_that_choose_the_strategy() -> None:
    assert list(fired(SNAPSHOT, ANSWER)) == ["steps"]
    assert [rule.id for rule in strategies(SNAPSHOT)] == ["auto"]
