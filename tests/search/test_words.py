"""Cutting and gluing identifiers; mending typing errors."""

from __future__ import annotations

import pytest

from indexer.search.spelling import mend
from indexer.search.words import alternatives, identifier_terms, query_terms, words


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("--speculative-num-steps", ["speculative", "num", "steps"]),
        ("speculative_num_steps", ["speculative", "num", "steps"]),
        ("SpeculativeNumSteps", ["speculative", "num", "steps"]),
        ("EAGLE3", ["eagle3"]),
        ("SGLANG_ENABLE_SPEC_V2", ["sglang", "enable", "spec", "v2"]),
        ("Qwen3_5MoeForConditionalGeneration", ["qwen3", "5", "moe", "for", "conditional", "generation"]),
        ("HTTPServer", ["http", "server"]),
        ("", []),
        ("---", []),
    ],
)
def test_words(text: str, cut: list[str]) -> None:
    assert words(text) == cut


def test_neighbours_are_also_indexed_glued() -> None:
    terms = identifier_terms("--speculative-eagle-top-k")
    assert {"topk", "eagletop", "speculativeeagletopk"} <= set(terms)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("prompt lookup decoding", ["promptlookup", "decoding"]),
        ("prompt-lookup", ["promptlookup"]),
        ("next n of the model", ["nextn", "model"]),
        ("prompt for a lookup", ["promptlookup"]),
        ("lookup prompt", ["lookup", "prompt"]),
    ],
)
def test_neighbours_that_are_a_word_of_the_field_are_one(query: str, terms: list[str]) -> None:
    assert query_terms(query) == terms


@pytest.mark.parametrize(
    ("term", "others"),
    [
        ("logprobs", ("logprob",)),
        ("token", ("tokens",)),
        ("class", ()),
        ("status", ()),
        ("bs", ()),
        ("qwen3", ()),
        ("mtp", ("nextn",)),
        ("acceptance", ("accept", "acceptances")),
    ],
)
def test_what_else_a_word_is_called(term: str, others: tuple[str, ...]) -> None:
    assert alternatives(term) == others


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("specualtive", "speculative"),
        ("speculatve", "speculative"),
        ("drfat", "draft"),
        ("tokenz", "tokens"),
        ("draft", None),
        ("num", None),
        ("completely", None),
    ],
)
def test_mending(typed: str, meant: str | None) -> None:
    vocabulary = {"speculative": 40, "draft": 20, "tokens": 9, "token": 3, "nun": 1}
    assert mend(typed, vocabulary) == meant
