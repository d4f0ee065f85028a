"""Decisions kept beside the record: who made them, and where."""

from __future__ import annotations

from types import SimpleNamespace

from indexer.explain.declared import Declared, Write, unnoted_decisions
from indexer.interpret.compiled import MARK
from indexer.interpret.made import Made

SOURCE = """
def family(record):
    found = {"dtype": "half"}
    if record:
        found["backend"] = "a"
        found["pages"] = 1
    else:
        found["pages"] = 2
    return found
"""


def program(made=()):
    names: dict[str, object] = {}
    exec(compile(SOURCE, f"{MARK}family.py", "exec"), names)
    return SimpleNamespace(
        world=SimpleNamespace(made=list(made)),
        bound=lambda name: [names[name]] if name in names else [],
        source={"family.py": SOURCE}.__getitem__,
    )


def record(*decisions):
    return SimpleNamespace(name="x", other=[1, 2], decisions=list(decisions))


def test_a_returned_dictionary_is_cited_at_its_line() -> None:
    made = [Made("passes.py", "a_pass", {"backend": 7}, {"backend": "a"})]
    found = unnoted_decisions(program(made), record(("a_pass", {"backend": "a"})), [])
    assert found == [Write("backend", "passes.py", 7, "a_pass")]


def test_a_provider_is_cited_where_it_names_the_field_or_at_its_head() -> None:
    kept = record(("family", {"dtype": "half", "backend": "a", "pages": 1}))
    found = {one.name: one.line for one in unnoted_decisions(program(), kept, [])}
    assert found == {"dtype": 3, "backend": 5, "pages": 2}


def test_only_the_last_decision_counts_and_what_was_noted_is_left_out() -> None:
    kept = record(("family", {"backend": "a"}), ("later", {"backend": "b"}))
    assert unnoted_decisions(program(), kept, [Declared("later", {"backend": "b"})]) == []


def test_a_source_that_nothing_bound_is_not_guessed() -> None:
    assert unnoted_decisions(program(), record(("TABLE['X']", {"backend": "a"})), []) == []
