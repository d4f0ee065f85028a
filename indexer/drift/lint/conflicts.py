"""``refused`` and ``overridden``: what SGLang's own resolver makes of a launch, through ``explain``.

Argparse accepts many launches that the resolver then refuses or rewrites. Only what is certain
becomes a finding: the file must tell the whole argument list, and the explanation must hold on
every path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from indexer.drift.launch.model import DYNAMIC, FileLaunches, Launch, Word
from indexer.drift.lint.argv import Use, walk
from indexer.drift.lint.facts import Timeline, VersionTable, show
from indexer.drift.lint.judge import Raw
from indexer.drift.lint.lints import LINTS
from indexer.knowledge.schema import Location

CERTAIN = "will"
PLACEHOLDER = "/not/told/by/the/file"
"""Stands for a path or name that a variable holds: no rule can decide on its content."""
_FREE_ENDINGS = ("_path", "_name", "_key", "_dir", "_addr", "host", "port", "_file", "_revision", "_url")
"""Ends of the dests whose value may be unknown without making the launch unknown."""


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


Explain = Callable[[str, list[str], dict[str, str]], ExplanationLike | None]
"""``(version, argv, environment)`` to an explanation, or None where none can be had offline."""


class Conflicts:
    """Findings of the resolver; ``explain`` is asked only for launches that are told whole."""

    def __init__(self, timeline: Timeline, explain: Explain) -> None:
        self.timeline = timeline
        self.explain = explain

    def __call__(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return the findings for one launch on one version."""
        table = self.timeline.table(version)
        uses = complete_uses(launch, table)
        if uses is None:
            return []
        argv = argv_of(uses, table)
        environment = {s.name: s.value for s in found.settings if s.value is not None}
        explanation = self.explain(version, argv, environment)
        if explanation is None:
            return []
        refusal = explanation.refusal
        if explanation.outcome == "refused" and refusal is not None and refusal.certainty == CERTAIN:
            return [_refused(refusal, uses, launch, version)]
        if explanation.outcome != "starts":
            return []
        return [raw for use in uses if (raw := _overridden(use, explanation, version)) is not None]


def complete_uses(launch: Launch, table: VersionTable) -> list[Use] | None:
    """Return the options of a launch whose argument list the file tells whole, else None."""
    if launch.program not in ("server", "serve") or launch.open_end or launch.config or not launch.words:
        return None
    if any(word.branch for word in launch.words):
        return None
    walked = walk(launch.words, table)
    if walked.opaque or walked.problems:
        return None
    for use in walked.uses:
        told = all(word.known for word in use.values)
        if not told and not use.flag.dest.endswith(_FREE_ENDINGS):
            return None
    return walked.uses


def argv_of(uses: Sequence[Use], table: VersionTable) -> list[str]:
    """Return the argument list, options spelled out; a missing model is given a name."""
    argv: list[str] = []
    for use in uses:
        argv.append(use.option)
        argv += [_text(word) for word in use.values]
    given = {use.flag.dest for use in uses}
    for flag in table.required:
        if flag.dest not in given:
            argv = [flag.option_strings[0], PLACEHOLDER, *argv]
    return argv


def _text(word: Word) -> str:
    return word.text if DYNAMIC not in word.text else PLACEHOLDER


def _refused(refusal: RefusalLike, uses: Sequence[Use], launch: Launch, version: str) -> Raw:
    message = " ".join(str(refusal.message).split())
    said = f"{refusal.exception}: {message}" if message else f"{refusal.exception} without a text"
    use = _named_in(message, uses)
    start = use.word.start if use else launch.offset
    end = start + len(use.spelled) if use else launch.offset + max(1, len(launch.entry))
    return Raw(
        "refused",
        LINTS["refused"].level,
        f"SGLang {version} refuses this launch: {said}",
        start,
        end,
        flag=use.spelled if use else None,
        at=show(refusal.at),
    )


def _named_in(message: str, uses: Sequence[Use]) -> Use | None:
    """Return the given option that a message names, by option string or by field."""
    for use in uses:
        if use.option in message or (len(use.flag.dest) > 6 and use.flag.dest in message):
            return use
    return None


def _overridden(use: Use, explanation: ExplanationLike, version: str) -> Raw | None:
    change = explanation.fields.get(use.flag.dest)
    if change is None or change.certainty != CERTAIN or not use.values or not _plain(change):
        return None
    if any(not word.known for word in use.values) or _same(change.asked, change.resolved):
        return None
    cause = change.by[-1].at if change.by else None
    return Raw(
        "overridden",
        LINTS["overridden"].level,
        f"{use.spelled} {change.asked} is not what SGLang {version} runs with: it sets {change.resolved}",
        use.word.start,
        use.word.start + len(use.spelled),
        flag=use.spelled,
        replacement=f"{use.option} {change.resolved}",
        at=show(cause),
    )


def _plain(change: ChangeLike) -> bool:
    """Only scalars are told: a list or object that was completed isn't a value replaced."""
    return all(isinstance(value, str | int | float | bool) for value in (change.asked, change.resolved))


def _same(asked: Any, resolved: Any) -> bool:
    """An alias resolved to its algorithm, or a number as text, is what was asked for."""
    return str(asked).lower() == str(resolved).lower()
