"""``sglang serve``: who reads its words, and what that reader refuses.

The command hands them to the server's parser, to another one where the model is a diffusion model, or to that
of an installed plugin. Which one seldom stands in the file, so that what only the server's parser refuses is
told with its condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from indexer.drift.launch.model import DYNAMIC, Launch, Program, Word
from indexer.drift.lint.argv import Problem, Use
from indexer.drift.lint.classify import Verdict
from indexer.drift.lint.facts import Timeline
from indexer.drift.report.record import HINT, MEANING
from indexer.knowledge.schema import ServeRule

SERVER, OTHER, OPEN = "server", "other", "open"
"""The server's parser reads the words; a parser that we don't know does; the model decides."""
_MODEL_TYPE = "--model-type"
_TYPES = {"llm": SERVER, "auto": OPEN}


def words_of_parser(program: Program, words: list[Word]) -> list[Word]:
    """Return the words that the server's parser sees: ``sglang serve`` takes ``--model-type`` and a leading
    model before."""
    if program != "serve":
        return words
    result: list[Word] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.text == _MODEL_TYPE:
            skip = True
        elif not word.text.startswith(_MODEL_TYPE + "="):
            result.append(word)
    return result[1:] if result and not result[0].text.startswith("-") else result


def reader(launch: Launch, timeline: Timeline, version: str | None = None) -> str:
    """Return who reads a launch's words, as far as its options tell.

    One that only the server has settles it: another parser would refuse it. Where the other parser takes what
    it does not know, one settles nothing if the words also have an option that only the other has.
    """
    words = [word.text for word in launch.words]
    asked = next((_value(words, at) for at, text in enumerate(words) if _is_model_type(text)), "auto")
    if launch.program == "serve" and asked is not None and _TYPES.get(asked) != OPEN:
        return _TYPES.get(asked, OTHER)
    options = {text.partition("=")[0] for text in words}
    others = not options.isdisjoint(timeline.foreign)
    if not options.isdisjoint(timeline.server_only):
        rule = timeline.serve_rule(version) if version else None
        return OPEN if others and rule is not None and not rule.refuses else SERVER
    return OTHER if others else OPEN


def _is_model_type(text: str) -> bool:
    return text.partition("=")[0] == _MODEL_TYPE


def _value(words: Sequence[str], at: int) -> str | None:
    """Return what ``--model-type`` is given, None where the file doesn't tell it."""
    _, equals, value = words[at].partition("=")
    if not equals:
        value = words[at + 1] if at + 1 < len(words) else DYNAMIC
    return None if DYNAMIC in value else value


class Blame(NamedTuple):
    """What the command itself refuses: a code and a message for ``start:end``."""

    code: str
    message: str
    start: int
    end: int
    flag: str | None
    at: str | None


def command_problems(launch: Launch, version: str, timeline: Timeline) -> Iterator[Blame]:
    """Yield what a version's command refuses before any parser reads the words."""
    rule, words = timeline.serve_rule(version), launch.words
    place = (launch.offset, launch.offset + len(launch.entry))
    if rule is None:
        if timeline.serve_since is not None:
            since = f"SGLang {version} has no command sglang serve; it came with {timeline.serve_since}"
            message = f"{since}; before that: python -m sglang.launch_server"
            yield Blame("future-flag", message, *place, launch.entry, None)
        return
    first = words[0] if words else None
    if first is not None and rule.positional is False and first.known and not first.text.startswith("-"):
        named = any(word.text.partition("=")[0] in ("--model", "--model-path") for word in words)
        needs = f"sglang serve of SGLang {version} takes the model as --model-path {first.text} only"
        if not named and not any(word.splits for word in words):
            yield Blame("missing-value", needs, first.start, max(first.end, first.start + 1), None, rule.at)
    for word in words:
        if _is_model_type(word.text) and rule.model_type is False:
            message = f"sglang serve of SGLang {version} has no {_MODEL_TYPE} yet: the model decides"
            yield Blame(
                "future-flag", message, word.start, min(word.end, word.start + 12), _MODEL_TYPE, rule.at
            )


class Condition(NamedTuple):
    """On which condition ``sglang serve`` refuses something, and the level at which that is told."""

    level: str
    text: str


class Doubt:
    """What becomes of a problem that the server's parser would have, where another one may be asked."""

    def __init__(self, rule: ServeRule | None, timeline: Timeline) -> None:
        self.rule = rule
        self.timeline = timeline

    def of_option(self, spelled: str, verdict: Verdict) -> Condition | None:
        """Return on which condition an option is refused, None where it is in any case."""
        meant = verdict.known or verdict.certain or verdict.code == "wrong-engine-flag"
        if self._diffusion_takes(spelled):
            return Condition(MEANING if meant else HINT, "unless the model is a diffusion model")
        if meant or self.rule is None or self.rule.refuses:
            return None
        ignored = "; for a diffusion model it is ignored" if self.rule.refuses is False else ""
        return Condition(MEANING, f"where the model is a language model{ignored}")

    def _diffusion_takes(self, spelled: str) -> bool:
        """Whether the diffusion parser may take an option: one of its own, the beginning of one, or one that
        names a component of the model."""
        taken = self.rule.taken if self.rule is not None else []
        named = any(spelled.startswith(t) if t.startswith("--") else spelled.endswith(t) for t in taken)
        begins = any(option.startswith(spelled) for option in self.timeline.facts.diffusion_options)
        return named or begins or "." in spelled

    def of_value(self, problem: Problem) -> Condition | None:
        """Return on which condition a value is refused, None where it is in any case."""
        assert problem.flag is not None
        shared = [one for one in problem.flag.option_strings if one in self.timeline.facts.diffusion_options]
        kinds = {self.timeline.facts.diffusion_values.get(option) for option in shared}
        same = problem.kind == "missing-value" or (problem.kind == "invalid-type" and problem.detail in kinds)
        if not shared or (same and None not in kinds):
            return None
        return Condition(
            MEANING, f"unless the model is a diffusion model, whose parser has a {shared[0]} of its own"
        )


def doubt_about(launch: Launch, uses: Sequence[Use], version: str, timeline: Timeline) -> Doubt | None:
    """Return the doubt about a launch's reader, None where the server's parser reads it for certain."""
    if launch.program != "serve" or reader(launch, timeline, version) == SERVER:
        return None
    if reader(launch, timeline) != SERVER and any(use.option in timeline.server_only for use in uses):
        return None  # abbreviated
    return Doubt(timeline.serve_rule(version), timeline)
