"""Search says when it knows nothing: real questions stay answered, nonsense is recognised.

In ``confidence.json``, ``asked`` are what people asked (the handed cases' summary), ``nonsense`` is what the
rule was made with, ``held_back`` what it was only measured on; ``of_the_field`` names what others have and
SGLang has not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.search.confidence import Asked
from indexer.search.documents import Document
from indexer.search.index import LOOKED_AT, SearchIndex
from indexer.snapshots import get_snapshot

HERE = Path(__file__).parent
LISTS = json.loads((HERE / "confidence.json").read_text())
GOLD = [entry["query"] for entry in json.loads((HERE / "gold.json").read_text())["queries"]]


def unsure(index: SearchIndex, queries: list[str]) -> list[str]:
    return [query for query in queries if not index.sure(query, index.search(query, limit=LOOKED_AT))]


@pytest.mark.release
def test_what_people_ask_is_answered(default_index: SearchIndex) -> None:
    assert unsure(default_index, GOLD + LISTS["asked"]) == []


@pytest.mark.release
@pytest.mark.parametrize("name", ["nonsense", "held_back", "of_the_field"])
def test_nonsense_is_recognised(default_index: SearchIndex, name: str) -> None:
    queries = LISTS[name]
    known = set(queries) - set(unsure(default_index, queries))
    print(f"{name}: {len(queries) - len(known)} of {len(queries)} recognised")
    # The few that are left have a whole name of a flag or rule in them (`log level`, `eviction policy`).
    assert len(known) <= 0.04 * len(queries), known


@pytest.mark.release
def test_every_flag_is_known_by_its_name_in_any_spelling(default_index: SearchIndex) -> None:
    flags = get_snapshot().flags[::40]
    spellings = [s for flag in flags for s in (f"--{flag.name}", flag.dest, flag.name.replace("-", " "))]
    assert unsure(default_index, spellings) == []


# -- the rule itself, on documents of our own ------------------------------------------------------


def document(name: str, text: str = "", code: str = "", values: tuple[str, ...] = ()) -> Document:
    return Document(
        "flag:x", "flag", name, "1", "/", name, [name], "", text, "a.py", 1, values=[*values], code=code
    )


KNOWN = {"window": 40, "size": 60, "pool": 9, "cache": 300, "draft": 90, "speculative": 200, "log": 20}


def asked(text: str, **mended: str) -> Asked:
    from indexer.search.words import query_terms

    return Asked(text, query_terms(text), mended, KNOWN)


@pytest.mark.parametrize(
    ("query", "name", "text", "answered"),
    [
        ("pool size", "--pool-size", "", True),
        ("postgres pool size", "--pool-size", "", False),  # what it is about is unknown
        ("pool size 48", "--pool-size", "", True),  # a number is filled in
        ("--pool-window", "--pool-size", "window", False),  # an option is known by its name alone
        ("--pool-si", "--pool-size", "", True),
        ("pool_window", "--pool-size", "has a pool window in it", True),
        ("which flag is the pool size", "--pool-size", "", True),
        ("why does the speculative pool size of my cookbook matter", "--speculative-pool-size", "", True),
        ("speculative wombat", "--speculative-pool-size", "", False),
        ("does postgres like --pool-size", "--pool-size", "", True),  # it names one, whatever else it says
    ],
)
def test_what_answers_a_query(query: str, name: str, text: str, answered: bool) -> None:
    assert asked(query).answered_by(document(name, text)) is answered


def test_how_things_relate_is_not_what_is_asked_about() -> None:
    fact = document("--pool-size", "needs a cache where the size > 1")
    assert asked("which cache allows pool size greater than 1").answered_by(fact)
    assert not asked("which postgres allows more than 1").answered_by(fact)


def test_a_mistyped_word_counts_where_it_names_something() -> None:
    assert asked("poool size", poool="pool").answered_by(document("--pool-size"))
    assert not asked("zork", zork="pool").answered_by(document("--other", "a pool"))


def test_an_attribute_in_a_condition_says_less_than_a_message() -> None:
    assert asked("pool size").answered_by(document("--other", "the pool"))
    assert not asked("pool size").answered_by(document("--other", code="name.pool != 1"))


def test_a_part_of_a_choice_is_not_what_a_fact_goes_by() -> None:
    flag = document("--other", values=("pool_window",))
    assert asked("pool window").answered_by(flag)
    assert not asked("pool").answered_by(flag)


def test_the_other_number_and_what_a_field_word_stands_for_are_known() -> None:
    question = asked("pools of the spec logs")
    assert question.unknown == []
    assert question.answered_by(document("--speculative-pool-log"))


def test_words_in_a_row_are_told_from_words_far_apart() -> None:
    question = asked("pool size")
    assert question.together_in(document("--x", "the size of what a pool is")) == 0
    assert question.together_in(document("--x", "the pool size")) == 1


def test_unknown_words_are_told() -> None:
    assert asked("postgres poool size", poool="pool").unknown == ["postgres", "poool"]


def _cases(shared: Path) -> Iterator[tuple[str, str]]:
    for line in (shared / "cases" / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["surface"] == "search":
            yield case["question"], case["right_answer"]


@pytest.mark.oracle
@pytest.mark.release
def test_no_right_answer_of_the_cases_is_called_unknown(default_index: SearchIndex, shared: Path) -> None:
    """A flag that the right answer names and the search finds is an answer."""
    lost = []
    for question, right in _cases(shared):
        hits = default_index.search(question, limit=LOOKED_AT)
        named = [hit for hit in hits if hit.document.kind == "flag" and hit.document.names[0] in right]
        if named and not default_index.sure(question, hits):
            lost.append(question)
    # Of another engine's flags nothing is known, though one of ours is part of the answer.
    assert [question for question in lost if "vLLM" not in question] == []
