"""What each model drafts with under each algorithm, and what is refused: only what facts say."""

from __future__ import annotations

import pytest

from indexer.knowledge.algorithm_tests import AlgorithmTests
from indexer.knowledge.pairings import pairings_of
from indexer.knowledge.schema import (
    SCHEMA_VERSION,
    Algorithm,
    Alias,
    CodePath,
    Location,
    Model,
    Snapshot,
    Source,
    Worker,
)


def _at(line: int) -> Location:
    return Location("python/sglang/srt/x.py", line)


_OWN = "the target's own layers, or a separate checkpoint"
EAGLE = Algorithm(
    "EAGLE",
    _at(1),
    aliases=[Alias("NEXTN", "EAGLE", _at(2))],
    predicates={"is_eagle": True, "is_ngram": False},
    workers=[Worker("SlowWorker", "not overlap", _at(3)), Worker("FastWorker", "overlap", _at(4))],
    draft_model=_OWN,
    draft_model_at=[_at(5)],
)
DSPARK = Algorithm("DSPARK", _at(6), draft_model=_OWN, draft_model_at=[_at(7)])
NGRAM = Algorithm("NGRAM", _at(8), predicates={"is_eagle": False, "is_ngram": True}, draft_model="none")
OTHER = Algorithm("OTHER", _at(9))


@pytest.mark.parametrize(
    ("condition", "value", "left", "asked"),
    [
        ("cfg.speculative_algorithm is not None", True, [], False),
        ('cfg.speculative_algorithm in ("EAGLE", "X")', True, [], True),
        ('str(cfg.speculative_algorithm).upper() != "EAGLE"', False, [], True),
        ("self.is_eagle() and cfg.topk > 1", None, ["cfg.topk > 1"], True),
        ("not (self.is_ngram() or cfg.a)", None, ["not (self.is_ngram() or cfg.a)"], True),
        ("self.is_eagle() or cfg.a", True, [], True),
        ("cfg.a or cfg.b", None, ["cfg.a or cfg.b"], False),
        ("for x in y", None, ["for x in y"], False),
    ],
)
def test_only_tests_of_the_algorithm_are_decided(condition, value, left, asked) -> None:
    tests = AlgorithmTests(EAGLE)
    assert tests.reduce(condition) == (value, left)
    assert tests.asked is asked


def _table(models: list[Model], findings: list[dict] | None = None) -> dict[str, dict[str, object]]:
    snapshot = Snapshot(
        SCHEMA_VERSION,
        Source("1", "folder"),
        algorithms=[Algorithm("NONE", _at(0)), EAGLE, DSPARK, NGRAM, OTHER],
        models=models,
        code_paths=[CodePath("decode", "Decode", findings=findings or [])],
    )
    table = pairings_of(snapshot)
    names = [one.name for one in table.algorithms]
    return {row.model.architecture: dict(zip(names, row.pairings, strict=True)) for row in table.rows}


def test_own_layers_are_claimed_only_for_the_algorithm_that_uses_them() -> None:
    draft = {"architecture": "RiverMTP", "mapping_at": _at(20)}
    river = _table([Model("River", _at(10), hybrid={"kind": "GDN"}, draft=draft)])["River"]
    assert (river["EAGLE"].state, river["EAGLE"].draft, river["EAGLE"].at) == ("own", "RiverMTP", _at(20))
    assert (river["DSPARK"].state, river["DSPARK"].draft) == ("separate", "RiverMTP")
    assert (river["NGRAM"].state, river["OTHER"].state) == ("no draft", "unknown")


def test_a_mapping_that_asks_for_the_algorithm_decides() -> None:
    spark = {
        "architecture": "RiverSpark",
        "mapping_at": _at(20),
        "condition": 'bundles(hf) and self.speculative_algorithm in (None, "DSPARK")',
        "also": [{"architecture": "RiverMTP", "mapping_at": _at(21)}],
    }
    river = _table([Model("River", _at(10), draft=spark)])["River"]
    assert (river["EAGLE"].draft, river["EAGLE"].state) == ("RiverMTP", "own")
    assert (river["DSPARK"].draft, river["DSPARK"].state) == ("RiverSpark", "own")
    assert river["DSPARK"].condition == "bundles(hf)"


def test_refused_where_a_check_names_model_and_algorithm() -> None:
    check = {"kind": "error", "at": _at(30), "condition": 'cfg.speculative_algorithm not in (None, "EAGLE")'}
    width = {"kind": "error", "at": _at(31), "condition": "self.is_eagle() and cfg.topk != 1"}
    river = _table([Model("River", _at(10), hybrid={"kind": "GDN"}, overrides=[check, width])])["River"]
    assert (river["NGRAM"].state, river["NGRAM"].at) == ("refused", _at(30))
    assert river["EAGLE"].state == "separate"
    assert [note.text for note in river["EAGLE"].notes] == ["refused if cfg.topk != 1"]


def test_a_worker_without_a_commit_is_told_for_models_with_recurrent_state_only() -> None:
    finding = {"point": "commit", "what": "FastWorker.verify never reaches 'commit'", "at": ["a/b.py:7"]}
    table = _table(
        [
            Model("River", _at(10), hybrid={"kind": "GDN"}),
            Model("Dune", _at(11), hybrid={"kind": "sliding window"}),
            Model("Plain", _at(12)),
        ],
        [finding],
    )
    assert list(table) == ["River", "Dune"], "models without a hybrid kind or a draft are not rows"
    (note,) = table["River"]["EAGLE"].notes
    assert note.text == "FastWorker (chosen if overlap) never commits the recurrent state after verifying"
    assert note.at == Location("a/b.py", 7)
    assert not table["Dune"]["EAGLE"].notes
