"""The environment of a launch: what is set, what isn't, and what nobody says."""

from __future__ import annotations

from indexer.interpret.launch import Launch
from tests.interpret.running import run_paths

LAUNCH = Launch(env={"A": "1"}, env_unknown=frozenset({"B"}), packages_complete=True)


def results(expression: str) -> list[object]:
    source = f"import os\ndef result():\n    return {expression}\n"
    return [path.result for path in run_paths(source, LAUNCH).paths]


def test_a_variable_that_may_be_set_is_tried_both_ways() -> None:
    assert results("sorted(os.environ)") == [["A"], ["A", "B"]]
    assert results("len(os.environ)") == [1, 2]
    assert results("'B' in os.environ.copy()") == [False, True]
    assert results("[name for name, value in os.environ.items()]") == [["A"], ["A", "B"]]


def test_the_same_question_has_one_answer_on_a_path() -> None:
    assert results("('B' in os.environ) == ('B' in list(os.environ))") == [True, True]
