"""``refused`` and ``overridden``: what SGLang's own resolver makes of a launch, through ``explain``.

Argparse accepts many launches that the resolver then refuses or rewrites. A launch file seldom tells
model and GPU, so the resolver is asked in several worlds (``indexer.explain.probes``), and only what
is certain becomes a finding: the file must tell the whole argument list, every world must answer
alike on every path, and for a refusal there must be a world in which the launch starts once the
blamed option is left out: a launch that none of our models can serve proves nothing about the
user's. Blamed are only the numbers of speculative decoding (steps, top-k, draft tokens and their
kin), whose rules don't depend on the model.

This costs seconds and needs the release; it is asked for by ``--resolve``. ``certain`` tells most of the same
from shipped facts at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from indexer.drift.launch.model import FileLaunches, Launch
from indexer.drift.lint.argv import Use
from indexer.drift.lint.facts import Timeline, VersionTable, show
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.whole import PLACEHOLDER, complete_uses
from indexer.knowledge.schema import Location

STARTS, REFUSED, CERTAIN = "starts", "refused", "will"
"""The words of ``indexer.explain.explanation``."""


class CauseLike(Protocol):
    """Who changed a field."""

    @property
    def at(self) -> Location: ...


class ChangeLike(Protocol):
    """A field whose resolved value isn't the asked one."""

    @property
    def asked(self) -> Any: ...
    @property
    def resolved(self) -> Any: ...
    @property
    def certainty(self) -> str: ...
    @property
    def by(self) -> Sequence[CauseLike]: ...


class RefusalLike(Protocol):
    """Why a launch is refused."""

    @property
    def exception(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def at(self) -> Location | None: ...
    @property
    def certainty(self) -> str: ...


class ExplanationLike(Protocol):
    """``indexer.explain``'s answer, as far as it is needed here."""

    @property
    def outcome(self) -> str: ...
    @property
    def refusal(self) -> RefusalLike | None: ...
    @property
    def fields(self) -> Mapping[str, ChangeLike]: ...


Explain = Callable[[str, list[str], dict[str, str]], Iterable[ExplanationLike]]
"""``(version, argv, environment)`` to one explanation a world, none where nothing can be had offline.
Worlds are asked one at a time: most launches are settled by the first."""


class Verdict(msgspec.Struct):
    """A finding before it has a place: ``use`` is the index of the blamed option."""

    code: str
    use: int
    message: str
    replacement: str | None = None
    at: str | None = None


class Conflicts:
    """Findings of the resolver; it is asked only about launches that are told whole."""

    def __init__(self, timeline: Timeline, explain: Explain) -> None:
        self.timeline = timeline
        self.explain = explain

    def __call__(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return the findings for one launch on one version."""
        table = self.timeline.table(version)
        uses = complete_uses(launch, table)
        if uses is None or not any(map(_is_number, uses)) or _is_ordinary(uses):
            return []
        environment = {s.name: s.value for s in found.settings if s.value is not None}
        return [_raw(verdict, uses) for verdict in self.verdicts(uses, environment, table)]

    def verdicts(self, uses: list[Use], env: dict[str, str], table: VersionTable) -> list[Verdict]:
        """Return what is certain about a launch."""

        def ask(kept: Sequence[Use]) -> Iterable[ExplanationLike]:
            return self.explain(table.version, argv_of(kept, table), env)

        answers = []
        for answer in ask(uses):
            answers.append(answer)
            if not _may_matter(answer, uses):
                return []
        refusals = [a.refusal for a in answers if a.refusal is not None]
        if answers and len(refusals) == len(answers):
            blamed = self._blamed(uses, ask)
            return [_refusal(refusals, blamed, uses, table.version)] if blamed is not None else []
        started = [answer for answer in answers if answer.outcome == STARTS]
        if len(started) < 2:
            return []
        told = (_override(index, use, started, table.version) for index, use in enumerate(uses))
        return [verdict for verdict in told if verdict is not None]

    def _blamed(
        self, uses: list[Use], ask: Callable[[Sequence[Use]], Iterable[ExplanationLike]]
    ) -> int | None:
        """Return the option without which the launch starts in some world, else None."""
        numbers = [index for index, use in enumerate(uses) if _is_number(use)]
        for index in numbers:
            if any(answer.outcome == STARTS for answer in ask(uses[:index] + uses[index + 1 :])):
                return index
        others = [use for use in uses if not _is_number(use)]
        if len(numbers) > 1 and any(answer.outcome == STARTS for answer in ask(others)):
            return numbers[0]
        return None


def _may_matter(answer: ExplanationLike, uses: Sequence[Use]) -> bool:
    """False for a world that starts with every number as it was given, or that can't tell."""
    if answer.outcome == REFUSED:
        return answer.refusal is not None and answer.refusal.certainty == CERTAIN
    return answer.outcome == STARTS and any(_change(use, answer) is not None for use in uses)


_CHAIN = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")


def _is_ordinary(uses: Sequence[Use]) -> bool:
    """Whether the numbers are a chain (top-k 1, one draft token more than steps), as in nearly every
    launch. The question is spared because the answer costs seconds; nothing is claimed by this."""
    numbers = {use.flag.dest: use.values[0].text for use in uses if _is_number(use)}
    if numbers.keys() != set(_CHAIN):
        return False
    steps, topk, tokens = (int(numbers[name]) for name in _CHAIN)
    return topk == 1 and tokens == steps + 1


def _is_number(use: Use) -> bool:
    flag = use.flag
    told = bool(use.values) and all(word.known for word in use.values)
    return told and flag.type == "int" and flag.dest.startswith("speculative_")


def argv_of(uses: Sequence[Use], table: VersionTable) -> list[str]:
    """Return the argument list, options spelled out. Every model, target or draft, is the
    placeholder: no rule may decide on a name that only the user's machine has."""
    argv: list[str] = []
    for use in uses:
        argv.append(use.option)
        argv += [PLACEHOLDER if _is_model(use) or not word.known else word.text for word in use.values]
    given = {use.flag.dest for use in uses}
    for flag in table.required:
        if flag.dest not in given:
            argv = [flag.option_strings[0], PLACEHOLDER, *argv]
    return argv


def _is_model(use: Use) -> bool:
    return use.flag.dest.endswith(("model_path", "tokenizer_path"))


def _refusal(refusals: list[RefusalLike], blamed: int, uses: Sequence[Use], version: str) -> Verdict:
    counted = Counter((r.exception, " ".join(str(r.message).split()), show(r.at)) for r in refusals)
    (exception, message, at), _ = counted.most_common(1)[0]
    said = f"{exception}: {message}" if message else f"a bare {exception}"
    use = uses[blamed]
    values = " ".join(word.text for word in use.values)
    return Verdict(
        "refused",
        blamed,
        f"SGLang {version} refuses this launch because of {use.spelled} {values}, whatever the model: {said}",
        None,
        at,
    )


def _change(use: Use, answer: ExplanationLike) -> ChangeLike | None:
    change = answer.fields.get(use.flag.dest)
    if change is None or change.certainty != CERTAIN or not _is_number(use):
        return None
    return change if str(change.asked) != str(change.resolved) else None


def _override(index: int, use: Use, started: Sequence[ExplanationLike], version: str) -> Verdict | None:
    changes = [_change(use, answer) for answer in started]
    first = changes[0]
    if first is None or any(change is None or change.resolved != first.resolved for change in changes):
        return None
    return Verdict(
        "overridden",
        index,
        f"{use.spelled} {first.asked} is not what SGLang {version} runs with: it uses {first.resolved}",
        f"{use.option} {first.resolved}",
        show(first.by[-1].at) if first.by else None,
    )


def _raw(verdict: Verdict, uses: Sequence[Use]) -> Raw:
    use = uses[verdict.use]
    return Raw(
        verdict.code,
        LINTS[verdict.code].level,
        verdict.message,
        use.word.start,
        max(use.word.start + 1, min(use.word.end, use.word.start + len(use.spelled))),
        flag=use.spelled,
        replacement=verdict.replacement,
        at=verdict.at,
    )
