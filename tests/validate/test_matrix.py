"""Cells are computed from records: each state, flaky and stale included."""

import msgspec

from indexer.knowledge.schema import Condition, Flag, Location, Rule, Snapshot, Source
from indexer.validate.matrix import build_matrix, shares, staleness
from indexer.validate.records import Check, Override, Record
from tests.validate.test_records import RECORDS

AT = Location("python/sglang/srt/server_args.py", 10, 12)


def snapshot(version: str = "1", default: object = None, message: str = "no") -> Snapshot:
    """Return a snapshot with two flags and one rule."""
    flags = [
        Flag("speculative-algorithm", ["--speculative-algorithm"], "speculative_algorithm", "_StoreAction"),
        Flag(
            "speculative-mode",
            ["--speculative-mode"],
            "speculative_mode",
            "_StoreAction",
            choices=["a", "b"],
            default=default,
        ),
    ]
    rule = Rule("rule:r", "error", AT, "check", [Condition("x")], message=message, flags=["speculative-mode"])
    return Snapshot(1, Source(version, "release"), flags, rules=[rule])


def record(name: str, **changes: object) -> Record:
    """Return a record like a real one."""
    base = msgspec.structs.replace(
        RECORDS[0],
        id=name,
        launch=name,
        version="1",
        kind="serve",
        flags=["--speculative-mode", "a"],
        asked={"speculative_mode": "a"},
        overrides=[],
        outcome="served",
        checks=[],
        error=None,
        where=None,
        algorithm=None,
    )
    return msgspec.structs.replace(base, **changes)


def state(*found: Record, subject: str = "flag:speculative-mode") -> str:
    """Return the state of the one cell of a subject."""
    (cell,) = build_matrix(found, snapshot()).of(subject, "1")
    return cell.state


def test_states() -> None:
    """Works, overridden, failed, refused, untested."""
    assert state(record("x")) == "works"
    assert state(record("x"), subject="flag:speculative-mode=a") == "works"
    overridden = record("x", overrides=[Override("speculative_mode", "a", "b")])
    assert state(overridden) == "works-overridden"
    assert state(record("x", outcome="failed", error="E: line")) == "failed"
    assert state(record("x", outcome="refused")) == "refused"
    assert state(subject="flag:speculative-mode") == "untested"


def test_checks_decide() -> None:
    """A failed effect is a failure; a parity finding, or a wrong prediction of ours, is not."""
    assert state(record("x", checks=[Check("accept length", False)])) == "failed"
    assert state(record("x", checks=[Check("greedy parity", False)])) == "works"
    assert state(record("x", checks=[Check("as predicted (static)", False)])) == "works"


def test_flaky_is_a_repetition_that_disagrees() -> None:
    """Two launches may differ; two runs of one launch may not."""
    bad = record("y", outcome="failed", error="E")
    assert state(record("x"), bad) == "works"
    assert state(record("x"), msgspec.structs.replace(bad, launch="x")) == "flaky"


def test_failing_line_and_records_are_kept() -> None:
    """A cell opens its records by state and shows the deciding line."""
    found = [record("x", outcome="failed", error="E: line")]
    (cell,) = build_matrix(found, snapshot()).of("flag:speculative-mode")
    assert cell.line == "E: line" and cell.records == {"failed": ["x"]}


def test_records_stand_in_the_order_of_the_states() -> None:
    """Whatever was recorded first."""
    refused, works = record("a", outcome="refused"), record("b")
    for found in ([refused, works], [works, refused]):
        (cell,) = build_matrix(found, snapshot()).of("flag:speculative-mode", "1")
        assert list(cell.records.items()) == [("works", ["b"]), ("refused", ["a"])]


def test_rule_cell_by_line() -> None:
    """An error from a rule's own lines is evidence about the rule."""
    inside = record("x", outcome="refused", where="sglang/srt/server_args.py:11:check")
    beside = record("y", outcome="refused", where="sglang/srt/server_args.py:13:check")
    assert state(inside, beside, subject="rule:r") == "refused"
    (cell,) = build_matrix([inside, beside], snapshot()).of("rule:r")
    assert cell.records == {"refused": ["x"]}


def test_stale_evidence() -> None:
    """Evidence of another version says what changed since."""
    changed = staleness(snapshot("1"), snapshot("2", default="a", message="yes"))
    assert changed == {"flag:speculative-mode": "default, rules changed since 1"}
    (cell,) = build_matrix([record("x")], snapshot("2"), {"1": changed}).of("flag:speculative-mode", "1")
    assert cell.stale == "default, rules changed since 1"
    assert staleness(snapshot("1"), snapshot("2")) == {}


def test_two_gpus_are_their_own_column() -> None:
    """The machine's GPUs are part of the cell."""
    two = msgspec.structs.replace(RECORDS[0].machine, gpus=2)
    matrix = build_matrix([record("x"), record("y", machine=two)], snapshot())
    assert {"2 × NVIDIA H200", "NVIDIA H200"} <= set(matrix.machines())
    assert shares(matrix, snapshot()) == [("1", "NVIDIA H200", 1, 2), ("1", "2 × NVIDIA H200", 1, 2)]
