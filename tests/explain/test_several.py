"""Several releases at once: what one of them can't answer is its own answer."""

from __future__ import annotations

import pytest

from indexer.errors import UsageError
from indexer.explain import several
from indexer.explain.explanation import STARTS, UNKNOWN, Explanation
from indexer.explain.launches import Question

QUESTION = Question(argv=["--model-path", "m"])


class _Explainer:
    def __init__(self, version: str, most_paths: int) -> None:
        self.version = version

    def explain(self, question: Question) -> Explanation:
        if self.version < "0.5":
            raise UsageError("no model type is known", "give --model")
        return Explanation(self.version, STARTS)


@pytest.fixture(autouse=True)
def releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several, "open_source", lambda version: version)
    monkeypatch.setattr(several, "Explainer", _Explainer)


@pytest.mark.parametrize("forks", [True, False])
def test_a_release_that_cannot_answer_does_not_cost_the_others(
    forks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several.children, "AVAILABLE", forks and several.children.AVAILABLE)
    old, new = several.explain_versions(["0.4", "0.5"], QUESTION, 4)
    assert (old.outcome, old.unknowns[0].reason) == (UNKNOWN, "no model type is known")
    assert new.outcome == STARTS


def test_a_mistake_that_all_find_is_the_users() -> None:
    with pytest.raises(UsageError, match="no model type"):
        several.explain_versions(["0.4", "0.4.1"], QUESTION, 4)
