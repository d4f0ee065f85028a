from __future__ import annotations

from pathlib import Path

import pytest

from indexer.errors import CannotError, UsageError
from indexer.knowledge.facts import EnvFact, Facts, FlagFact, facts_of
from indexer.knowledge.history import History, load_history
from indexer.knowledge.history_file import Release, encode
from indexer.knowledge.history_fold import fold
from indexer.knowledge.schema import Location
from tests.oracle_snapshot import oracle_history, oracle_snapshot, oracle_versions


def flag(*options: str, line: int = 1, **attributes: object) -> FlagFact:
    name = options[0].lstrip("-")
    attributes.setdefault("dest", name.replace("-", "_"))
    return FlagFact(
        name=name,
        option_strings=list(options),
        declared_at=Location("python/sglang/a.py", line),
        **attributes,
    )


def history_of(*releases: list[FlagFact] | Facts) -> History:
    facts = [r if isinstance(r, Facts) else Facts(f"0.{at}", flags=r) for at, r in enumerate(releases)]
    return History(fold([Release(one.version) for one in facts], facts))


def test_each_version_reads_back_as_it_was() -> None:
    first = [flag("--a", line=5, default=1), flag("--b", "--bee", line=9)]
    second = [flag("--a", line=7, default=2, choices=["x"]), flag("--c")]
    third = [flag("--a", line=6, default=2), flag("--b", "--bee", line=9)]
    history = history_of(first, second, third)
    assert [history.flags_at(f"0.{at}") for at in range(3)] == [first, second, third]


def test_a_flag_is_followed_when_its_spellings_change_order() -> None:
    history = history_of([flag("--data-size", "--dp")], [flag("--dp", "--data-size", dest="dp")])
    assert [track.name for track in history.tracks("flags")] == ["dp"]
    assert history.flags_at("0.0")[0].name == "data-size"
    assert history.flags_at("0.0")[0].dest == "data_size"


def test_an_alias_that_becomes_a_flag_keeps_its_intervals() -> None:
    history = history_of(
        [flag("--new", "--old")], [flag("--new"), flag("--old", dest="new")], [flag("--new")]
    )
    spans = [(i.first, i.last, i.name, i.current) for i in history.flag_intervals("--old")]
    assert spans == [("0.0", "0.0", "new", False), ("0.1", "0.1", "old", False)]
    assert [(i.first, i.last, i.current) for i in history.flag_intervals("new")] == [("0.0", "0.2", True)]


def test_a_gap_makes_two_intervals() -> None:
    history = history_of([flag("--a")], [], [flag("--a")])
    assert [(i.first, i.last) for i in history.flag_intervals("--a")] == [("0.0", "0.0"), ("0.2", "0.2")]


def test_unknown_version_names_its_neighbours() -> None:
    history = history_of([], [], [])
    with pytest.raises(UsageError, match=r"it covers 0\.0 to 0\.2, there 0\.1 and 0\.2"):
        history.index("0.1.post1")


def test_places_of_a_variable_that_is_read_after_its_declaration_went() -> None:
    at = Location("python/sglang/environ.py", 3)
    read = Location("python/sglang/hook.py", 8)
    old = Facts("0.0", env_vars=[EnvFact(name="X", default=False, declared_at=at)])
    new = Facts("0.1", env_vars=[EnvFact(name="X", read_at=read)])
    history = history_of(old, new)
    assert [history.env_vars_at(version)[0] for version in ("0.0", "0.1")] == [*old.env_vars, *new.env_vars]


def test_file_round_trip_is_deterministic(tmp_path: Path) -> None:
    file = fold([Release("0.1")], [Facts("0.1", flags=[flag("--a", choices=[1, None])])])
    path = tmp_path / "history.json"
    path.write_bytes(encode(file))
    assert load_history(path).flags_at("0.1")[0].choices == [1, None]
    assert encode(file) == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a history file"),
        (b'{"schema":99,"releases":[]}', "has history schema 99"),
        (b'{"schema":1,"releases":[', "is not a history file"),
    ],
)
def test_bad_file_is_one_clear_error(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(CannotError, match=said):
        load_history(path)


@pytest.mark.oracle
def test_every_oracle_version_reads_back(shared: Path) -> None:
    oracle = shared / "oracle"
    history = oracle_history(oracle)
    for version in oracle_versions(oracle):
        wanted = sorted(facts_of(oracle_snapshot(oracle, version)).flags, key=lambda fact: fact.name)
        assert sorted(history.flags_at(version), key=lambda fact: fact.name) == wanted
