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

    What stops one release's answer (it can't be fetched or read, does not know the architecture) is that
    release's answer.

    Raises:
        UsageError: every release finds the same fault with the question: an unknown GPU, say.
    """
    if len(versions) < 2 or not children.AVAILABLE:
        said = [_say(version, question, most_paths) for version in versions]
    else:
        works = [partial(_encoded, version, question, most_paths) for version in versions]
        said = [_decoded(content) for content in children.run_children(works)]
    if said and all(one.mistake is not None for one in said):
        raise UsageError(*said[0].mistake)  # type: ignore[misc]
    return [_answer(version, one) for version, one in zip(versions, said, strict=True)]


class _Said(msgspec.Struct):
    """What is said of a release: the answer, the mistake in the question (and its fix), or why neither."""

    answer: Explanation | None = None
    mistake: tuple[str, str | None] | None = None
    stopped: str = ""


def _say(version: str, question: Question, most_paths: int) -> _Said:
    try:
        return _Said(Explainer(open_source(version), most_paths).explain(question))
    except UsageError as error:
        return _Said(mistake=(error.message, error.fix))
    except CannotError as error:
        return _Said(stopped=str(error))


def _encoded(version: str, question: Question, most_paths: int) -> bytes:
    return msgspec.json.encode(_say(version, question, most_paths))


def _decoded(content: bytes | children.ChildStopped) -> _Said:
    if isinstance(content, children.ChildStopped):
        return _Said(stopped=str(content))
    return msgspec.json.decode(content, type=_Said)


def _answer(version: str, said: _Said) -> Explanation:
    if said.answer is not None:
        return said.answer
    why = said.mistake[0] if said.mistake is not None else said.stopped
    return Explanation(version, UNKNOWN, unknowns=[UnknownFact("outcome", why)])
