"""Unknown facts: both answers are tried, the same question once, impossible answers never."""

from __future__ import annotations

from indexer.interpret.launch import Launch
from tests.interpret.running import run_paths

LADDER = """
import os
def result():
    size = float(os.environ["SIZE"])
    if size < 10:
        return "small"
    if size < 20:
        return "middle"
    if size < 5:
        return "impossible"
    if size >= 20:
        return "large"
    return "impossible too"
"""


def _unknown(*names: str) -> Launch:
    return Launch(env_unknown=frozenset(names), packages_complete=True)


def test_both_answers_are_tried():
    source = "import os\ndef result():\n    return 'on' if os.environ.get('X') == '1' else 'off'\n"
    found = run_paths(source, _unknown("X"))
    assert found.complete
    assert {path.result for path in found.paths} == {"on", "off"}
    assert all("env X" in fork.roots for path in found.paths for fork in path.forks)


def test_the_same_question_is_asked_once():
    source = """
import os
def result():
    x = os.getenv("X", "0")
    return (True if x == "1" else False), (True if x != "1" else False), (False if x == "1" else True)
"""
    results = {path.result for path in run_paths(source, _unknown("X")).paths}
    assert results == {(True, False, False), (False, True, True)}


def test_numbers_keep_an_interval():
    found = run_paths(LADDER, _unknown("SIZE"))
    texts = {path.result for path in found.paths if isinstance(path.result, str)}
    assert texts == {"small", "middle", "large"}


def test_identity_with_none_is_a_question():
    source = "import random\ndef result():\n    return 'none' if random.choice([]) is None else 'some'\n"
    assert {path.result for path in run_paths(source).paths} == {"none", "some"}


def test_the_budget_of_paths_is_told():
    source = "import os\ndef result():\n    return [os.getenv(f'X{i}') == '1' and i for i in range(8)]\n"
    names = [f"X{i}" for i in range(8)]
    found = run_paths(source, _unknown(*names), most_paths=10)
    assert not found.complete and len(found.paths) == 10


def test_a_known_environment_asks_nothing():
    source = "import os\ndef result():\n    return os.environ.get('X', 'default')\n"
    found = run_paths(source, Launch(env={"X": "given"}, packages_complete=True))
    assert [path.result for path in found.paths] == ["given"]


def test_membership_in_lists_of_different_items_is_another_question_each_time():
    source = """
import random
def result():
    x = random.random()
    if x in ["a", "b"]:
        return 1
    if x in ["c", "d"]:
        return 2
    return 4 if x in ["a", "b"] else 3
"""
    assert {path.result for path in run_paths(source).paths} == {1, 2, 3}
