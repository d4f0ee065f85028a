"""What the snapshot adds to an explanation."""

from __future__ import annotations

import pytest

from indexer.explain import annotate
from indexer.explain.annotate import Annotator, Fallback, RulePlace, RulePlaces
from indexer.explain.explanation import REFUSED, STARTS, Cause, Explanation, FieldChange, Refusal
from indexer.explain.launches import Question
from indexer.explain.render import render
from indexer.knowledge.schema import Location

PATH = "python/sglang/srt/server_args.py"
PLACES = RulePlaces(
    [
        RulePlace("rule:wide", "error", PATH, 10, 30, []),
        RulePlace("rule:narrow", "error", PATH, 12, 14, []),
        RulePlace("rule:steps", "override", PATH, 40, 41, ["speculative_num_steps"]),
    ],
    {"page_size": Fallback(1, Location(PATH, 5))},
    {"LlamaForCausalLM": {"EAGLE3": Location(PATH, 60)}},
)


def annotated(answer: Explanation, *, arch: str = "LlamaForCausalLM") -> Explanation:
    return Annotator(PLACES).annotate(answer, Question([], arch=arch))


def test_the_narrowest_rule_at_the_line_is_named() -> None:
    refusal = Refusal("ValueError", "no", Location(PATH, 13), "resolve")
    assert annotated(Explanation("1", REFUSED, refusal)) is not None
    assert refusal.rule == "rule:narrow"


def test_writes_get_their_rule_and_fallbacks_their_declaration() -> None:
    steps = FieldChange(None, 3, by=[Cause(Location(PATH, 40))])
    other = FieldChange(None, 2, by=[Cause(Location(PATH, 40))])
    page = FieldChange(None, 1)
    fields = {"speculative_num_steps": steps, "other": other, "page_size": page}
    annotated(Explanation("1", STARTS, fields=fields))
    assert [steps.by[0].rule, other.by[0].rule] == ["rule:steps", None]
    assert page.by == [Cause(Location(PATH, 5))]


@pytest.mark.parametrize(
    ("outcome", "arch", "draft", "told"),
    [
        (STARTS, "LlamaForCausalLM", None, True),
        (STARTS, "LlamaForCausalLM", "some/draft", False),
        (STARTS, "Qwen3NextForCausalLM", None, False),
        (REFUSED, "LlamaForCausalLM", None, False),
    ],
)
def test_a_lacking_draft_is_told(outcome: str, arch: str, draft: str | None, told: bool) -> None:
    settings = {"speculative_algorithm": "EAGLE3", "speculative_draft_model_path": draft}
    answer = annotated(Explanation("1", outcome, speculative=settings), arch=arch)
    assert any(fact.what == "draft model" for fact in answer.unknowns) is told
    assert ("but EAGLE3 needs a draft checkpoint" in render([answer])) is told


def test_a_draft_that_is_not_known_is_not_said_to_lack() -> None:
    answer = annotated(Explanation("1", STARTS, speculative={"speculative_algorithm": "EAGLE3"}))
    assert answer.unknowns == []


def test_where_the_facts_are_not_at_hand_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotate, "annotator_of", lambda version, extract: None)
    settings = {"speculative_algorithm": "EAGLE", "speculative_draft_model_path": None}
    answers = [
        annotate.annotate_known(Explanation(version, STARTS, speculative=dict(settings)), Question([]))
        for version in ("1", "2")
    ]
    assert answers[0].reservations == []
    assert "`indexer explain --version 1` (and so" in " ".join(render(answers).split())
    other = annotate.annotate_known(Explanation("1", STARTS), Question([]))
    assert other.unknowns == []
