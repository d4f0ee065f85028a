"""One launch, many releases: side by side where there is more than one core."""

from __future__ import annotations

from functools import partial

import msgspec

from indexer.errors import CannotError, UsageError
from indexer.explain.explain import Explainer
from indexer.explain.explanation import UNKNOWN, Explanation, UnknownFact
from indexer.explain.launches import Question
from indexer.interpret import children
from indexer.source import open_source


def explain_versions(versions: list[str], question: Question, most_paths: int) -> list[Explanation]:
    """Return what each release makes of the launch, in their order.

    What stops one release's answer (it can't be fetched or read) is that release's answer.

    Raises:
        UsageError: the question names an unknown GPU, or a version that was never released.
    """
    if len(versions) < 2 or not children.AVAILABLE:
        return [_explain_version(version, question, most_paths) for version in versions]
    works = [partial(_encoded, version, question, most_paths) for version in versions]
    answers = zip(versions, children.run_children(works), strict=True)
    return [_decoded(version, answer) for version, answer in answers]


def _explain_version(version: str, question: Question, most_paths: int) -> Explanation:
    try:
        return Explainer(open_source(version), most_paths).explain(question)
    except CannotError as error:
        return _unanswered(version, str(error))


class _Said(msgspec.Struct):
    """What a child says of its release: the answer, or the mistake in the question (and its fix)."""

    answer: Explanation | None = None
    mistake: tuple[str, str | None] | None = None


def _encoded(version: str, question: Question, most_paths: int) -> bytes:
    try:
        said = _Said(_explain_version(version, question, most_paths))
    except UsageError as error:
        said = _Said(mistake=(error.message, error.fix))
    return msgspec.json.encode(said)


def _decoded(version: str, content: bytes | children.ChildStopped) -> Explanation:
    if isinstance(content, children.ChildStopped):
        return _unanswered(version, str(content))
    said = msgspec.json.decode(content, type=_Said)
    if said.mistake is not None:
        raise UsageError(*said.mistake)
    assert said.answer is not None
    return said.answer


def _unanswered(version: str, why: str) -> Explanation:
    return Explanation(version, UNKNOWN, unknowns=[UnknownFact("outcome", why)])
