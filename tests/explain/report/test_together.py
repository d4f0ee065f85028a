"""Variations are explained side by side; what their children compiled comes back and is kept once."""

from __future__ import annotations

from typing import Any

import pytest

from indexer.explain.explain import Watched
from indexer.explain.explanation import STARTS, Explanation
from indexer.explain.launches import Question
from indexer.explain.report import gather
from indexer.explain.resolve import Also
from indexer.interpret import children


class Code:
    """Compiled code of a tree: what was added to it, what it was told to prepare, how often it was saved."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.prepared: list[str] = []
        self.saved = 0

    def added(self) -> tuple[list[str], list[str]]:
        return self.paths, []

    def prepare(self, paths: list[str], texts: list[str]) -> None:
        self.prepared += paths

    def save(self) -> None:
        self.saved += 1


class Explainer:
    def __init__(self, code: Code) -> None:
        self.code = code

    def codes(self, question: Question) -> list[Code]:
        return [self.code]

    def watch(self, question: Question, also: Also, keep_code: bool = True) -> Watched:
        [word] = question.argv
        if word == "broken":
            raise ValueError(word)
        if keep_code:
            self.code.save()
        self.code.paths.append(f"{word}.py")
        return Watched(Explanation(word, STARTS))


def together(code: Code, words: list[str]) -> list[Watched]:
    explainer: Any = Explainer(code)
    return gather._together(explainer, Also(), [Question([one]) for one in words])


@pytest.mark.skipif(not children.AVAILABLE, reason="this platform has no fork")
def test_what_children_compiled_is_kept_once() -> None:
    code = Code()
    told = together(code, ["a", "b", "c"])
    assert [one.answer.version for one in told] == ["a", "b", "c"]
    assert code.prepared == ["a.py", "b.py", "c.py"]
    assert code.saved == 1


@pytest.mark.skipif(not children.AVAILABLE, reason="this platform has no fork")
def test_a_variation_that_fails_costs_no_other_one() -> None:
    told = together(Code(), ["a", "broken", "c"])
    assert [one.answer.outcome for one in told] == [STARTS, "unknown", STARTS]
    assert told[1].answer.unknowns[0].reason == "ValueError: broken"


def test_without_variations_nothing_is_started() -> None:
    assert together(Code(), []) == []
