"""Unknown facts: both answers are tried, the same question once, impossible answers never."""

from __future__ import annotations

import pytest

from indexer.interpret.explore import explore_with, run_script
from indexer.interpret.launch import Launch
from indexer.interpret.signals import Unsupported
from indexer.interpret.unknown import Unknown
from tests.interpret.running import run, run_paths

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


HIDDEN_KEY = """
import json
import os
import argparse
class Own: pass
class Late(argparse.HelpFormatter):
    def __init__(self, prog): super().__init__(prog)
def result():
    with open("/memory/model/config.json") as file:
        config = json.load(file)
"""


def _hidden(body: str, tmp_path) -> list[object]:
    (tmp_path / "config.json").write_text('{"depth": 3, "width": 4}')
    launch = Launch(folders=(tmp_path,), hidden_keys=frozenset({"depth"}), packages_complete=True)
    source = HIDDEN_KEY.replace("/memory/model", str(tmp_path)) + body
    return [path.result for path in run_paths(source, launch).paths]


def test_an_unknown_written_to_a_file_is_read_back_as_one(tmp_path):
    body = """
    with open("/memory/copy.json", "w") as file:
        json.dump(config | {"more": 1}, file)
    with open("/memory/copy.json") as file:
        again = json.load(file)
    return again["width"], again["more"], again["depth"] > 2
"""
    [(width, more, deep)] = _hidden(body, tmp_path)
    assert (width, more, deep._rt_roots) == (4, 1, ("config.json: depth",))


def test_what_json_holds_is_of_no_class_of_the_tree(tmp_path):
    assert _hidden("    return isinstance(config['depth'], Own)\n", tmp_path) == [False]
    assert _hidden("    return 1 if isinstance(config['depth'], int) else 2\n", tmp_path) == [1]


@pytest.mark.parametrize(
    "statement",
    [
        "found = {1}; found.add(config['depth']); return len(found)",
        "found = [1]; found.extend(config['depth']); return len(found)",
        "found = [3]; found.remove(config['depth']); return len(found)",
        "file = open('/memory/x', 'w'); file.write(config['depth']); return 1",
        "found = Late(config['depth']); return 1",
        "import heapq; found = []; heapq.heappush(config['depth'], 1); return len(found)",
    ],
)
def test_a_change_that_hangs_on_an_unknown_ends_the_path(statement, tmp_path):
    [found] = _hidden(f"    {statement}\n", tmp_path)
    assert isinstance(found, Unsupported)
    assert "config.json: depth" in str(found)


@pytest.mark.parametrize(
    "statement",
    ["1 + Shown()", "[1][config['depth']]", "del (1, 2)[config['depth']]", "len(Sized())"],
)
def test_errors_that_only_lack_of_knowledge_raises_are_not_handled(statement, tmp_path):
    body = f"""
    class Shown:
        def __str__(self): return config['depth']
        def __radd__(self, other): return str(self)
    class Sized:
        def __len__(self): return config['depth']
    try:
        {statement}
    except (TypeError, AttributeError):
        return "handled"
    return "went on"
"""
    assert "handled" not in _hidden(body, tmp_path)


def test_the_text_of_what_holds_an_unknown_is_unknown(tmp_path):
    body = """
    class Shown:
        def __repr__(self): return f"depth {config['depth']}"
    return f"{Shown()}", str(Shown()), repr(Shown())
"""
    [texts] = _hidden(body, tmp_path)
    assert {text._rt_roots for text in texts} == {("config.json: depth",)}


def test_a_flag_with_an_unknown_default_is_registered(tmp_path):
    body = """
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", default=config["depth"])
    found = parser.parse_args([])
    return found.depth
"""
    [depth] = _hidden(body, tmp_path)
    assert depth._rt_roots == ("config.json: depth",)


def test_a_value_whose_type_is_known_is_nothing_of_another_type() -> None:
    source = """
import random
def result():
    number = random.random()
    text = "x"
    return number is None, number is not None, number is text
"""
    assert run(source) == (False, True, False)


def test_the_latest_question_can_be_asked_the_other_way_first() -> None:
    source = Unknown("first"), Unknown("second")

    def path() -> tuple[bool, ...]:
        return tuple(bool(one) for one in source)

    def run_all(scripts):
        return [run_script(path, script) for script in scripts]

    earliest = [one.result for one in explore_with(run_all).paths]
    latest = [one.result for one in explore_with(run_all, latest_first=True).paths]
    assert earliest == [(False, False), (True, False), (True, True), (False, True)]
    assert latest == [(False, False), (False, True), (True, False), (True, True)]
