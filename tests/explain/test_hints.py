"""What to add to a question so that more is known."""

from __future__ import annotations

import pytest

from indexer.explain.explanation import MODEL, UNKNOWN, Explanation, UnknownFact
from indexer.explain.hints import hints, meant_algorithm
from indexer.explain.launches import UNNAMED_GPU
from indexer.explain.render import render


def _answer(*facts: UnknownFact, assumed: tuple[str, ...] = ()) -> Explanation:
    return Explanation("1", UNKNOWN, unknowns=list(facts), assumed=list(assumed))


def test_facts_become_options() -> None:
    answer = _answer(
        UnknownFact("outcome", "iteration of x is needed (depends on config.json: layers, env SGLANG_X)"),
        UnknownFact("package torch", "asked"),
        UnknownFact(MODEL, "not at hand"),
        UnknownFact("a random number", "asked"),
        assumed=(UNNAMED_GPU,),
    )
    first, *rest = hints(answer)
    assert first.startswith("--model DIR")
    assert rest == [
        "--gpu NAME", "a config.json with layers", "--env SGLANG_X=VALUE", "--package torch=VERSION",
    ]  # fmt: skip


def test_they_are_told_where_the_outcome_is_open() -> None:
    told = render([_answer(UnknownFact("GPU memory", "asked"))])
    assert "can't be known" in told and "what would decide it: --gpu NAME" in told


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (["--speculative-algorithm", "MTP"], "NEXTN"),
        (["--model-path", "m", "--speculative-algo=nextm"], "NEXTN"),
        (["--speculative-algorithm", "EAGLE", "--speculative-algorithm", "EAGLE4"], "EAGLE"),
        (["--speculative-algorithm", "nextn"], None),
        (["--speculative-algorithm", "nothing-like-it"], None),
        (["--speculative-algorithm"], None),
        (["--model-path", "m"], None),
    ],
)
def test_a_name_the_release_has_not_is_taken_for_the_nearest(argv: list[str], meant: str | None) -> None:
    assert meant_algorithm(argv, "0.5.23") == meant
