"""From a pasted error or log line, its values filled in, to the rule that wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from indexer.knowledge.schema import Rule
from indexer.search.pasted import Frame, Pasted, take_apart
from indexer.templates import PLACEHOLDER

_LEAST_LITERAL = 10
"""Fewest literal characters of a template that say anything."""
_NEAR = 82.0
_SNIPPET = 30
"""Fewest characters of a stretch out of a message that can stand for it."""
_LEAST_SOURCE = 6
_FEWEST_WORDS = 5


@dataclass(frozen=True)
class Match:
    """A rule that a paste points at.

    ``how``: ``line`` (a frame of the traceback lies in it), ``message`` (its template, values filled
    in), ``source`` (the line of code shown is its assertion), ``function`` (a frame's function, the
    line belongs to another version), ``near`` (words alike). ``score`` orders matches of one kind.
    ``values`` are what run time filled in, by the expression of the template.
    """

    rule: Rule
    how: str
    score: float
    values: dict[str, str] = field(default_factory=dict)


class MessageIndex:
    """The message templates of a version's rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._templates = [_Template(rule) for rule in rules if rule.message and rule.companion is None]

    def find(self, text: str, limit: int = 5) -> list[Match]:
        """Return the rules a paste points at, the surest first; empty when none does."""
        pasted = take_apart(text)
        found = [*self._by_line(pasted), *self._by_message(pasted), *self._by_source(pasted)]
        if not found:
            found = [*self._by_function(pasted), *self._near(pasted)]
        best: dict[str, Match] = {}
        for match in found:
            held = best.get(match.rule.id)
            if held is None or _rank(match) < _rank(held):
                best[match.rule.id] = _joined(match, held)
        return sorted(best.values(), key=_rank)[:limit]

    def _by_line(self, pasted: Pasted) -> Iterable[Match]:
        """Rules around the innermost frame of this tree; its line must fit the exception."""
        for frame in list(reversed(pasted.frames))[:1]:
            for rule in self._rules:
                if _at(rule, frame) and _fits(rule, pasted):
                    yield Match(rule, "line", 1.0 / (1 + abs(rule.at.line - frame.line)))

    def _by_message(self, pasted: Pasted) -> Iterable[Match]:
        for message in pasted.messages:
            flat = " ".join(message.split())
            for template in self._templates:
                match = template.match(flat)
                if match is not None and _fits(template.rule, pasted):
                    yield match

    def _by_source(self, pasted: Pasted) -> Iterable[Match]:
        for source in pasted.asserted:
            wanted = _squeezed(source).strip("(,")
            if len(wanted) < _LEAST_SOURCE:
                continue
            for rule in self._rules:
                asserted = _squeezed(rule.values[0]) if rule.kind == "assert" and rule.values else ""
                if asserted.startswith(wanted) or (asserted and wanted.startswith(asserted)):
                    lengths = sorted((len(wanted), len(asserted)))
                    yield Match(rule, "source", lengths[0] / lengths[1])

    def _by_function(self, pasted: Pasted) -> Iterable[Match]:
        frame = next(reversed(pasted.frames), None)
        if frame is None or frame.function is None:
            return
        for rule in self._rules:
            same = rule.function.rpartition(".")[2] == frame.function and rule.exception == pasted.exception
            if same and (not pasted.bare or rule.message is None):
                yield Match(rule, "function", 1.0 / (1 + abs(rule.at.line - frame.line)))

    def _near(self, pasted: Pasted) -> Iterable[Match]:
        from rapidfuzz import fuzz

        for message in pasted.messages[:1]:
            said = _words(message)
            for template in self._templates:
                shorter = min(len(message), len(template.plain))
                if shorter < _LEAST_LITERAL:
                    continue
                words = max(fuzz.token_set_ratio(message, template.plain), _contained(said, template.words))
                stretch = fuzz.partial_ratio(message, template.plain)
                likeness = max(words, stretch if shorter >= _SNIPPET else 0.0)
                if likeness >= _NEAR:
                    yield Match(template.rule, "near", (words + stretch) / 200)


@dataclass
class _Template:
    rule: Rule

    @cached_property
    def parts(self) -> list[str]:
        """The literal text around the placeholders; the placeholders' expressions stand between."""
        return [" ".join(part.split()) for part in PLACEHOLDER.sub("\0", self.rule.message or "").split("\0")]

    @cached_property
    def plain(self) -> str:
        return " ".join(part for part in self.parts if part)

    @cached_property
    def words(self) -> frozenset[str]:
        return _words(self.plain)

    @cached_property
    def longest(self) -> str:
        return max(self.parts, key=len)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        gap = r"\s*(.*?)\s*"
        return re.compile(gap.join(re.escape(part).replace(r"\ ", r"\s+") for part in self.parts) + r"\s*$")

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """The same, but open at the end: what is pasted may go on, or stand in a longer line."""
        return re.compile(self.pattern.pattern.removesuffix(r"\s*$"))

    def match(self, text: str) -> Match | None:
        """Match a whole message, a message inside a longer line, or the beginning of a message."""
        literal = len(self.plain)
        if literal < _LEAST_LITERAL:
            return None
        if self.longest in text:
            found = self.pattern.search(text) or self.opening.search(text)
            if found is not None:
                covered = min(literal / max(1, len(text)), 1.0)
                told = [one for one in self.rule.bindings.values() if one.strip("\"'") in text]
                return Match(self.rule, "message", covered + 0.1 * len(told), self._values(found))
        begun = len(text) >= _LEAST_LITERAL and self.plain.startswith(text)
        if begun or (len(text) >= _SNIPPET and text in self.plain):
            return Match(self.rule, "message", len(text) / literal / 2)
        return None

    def _values(self, found: re.Match[str]) -> dict[str, str]:
        holes = enumerate(PLACEHOLDER.finditer(self.rule.message or ""), 1)
        names = [hole.group(1) or f"value {number}" for number, hole in holes]
        return {name: value for name, value in zip(names, found.groups(), strict=False) if value}


_ORDER = ("line", "message", "source", "function", "near")


def _rank(match: Match) -> tuple[int, float, int, str]:
    return _ORDER.index(match.how), -match.score, match.rule.order or 0, match.rule.id


def _joined(match: Match, other: Match | None) -> Match:
    values = match.values or (other.values if other is not None else {})
    return Match(match.rule, match.how, match.score, values)


def _at(rule: Rule, frame: Frame) -> bool:
    path = frame.path.replace("\\", "/")
    inside = rule.at.path.removeprefix("python/")
    same = path.endswith(inside) or ("/" not in path and inside.endswith(f"/{path}"))
    return same and rule.at.line <= frame.line <= (rule.at.end_line or rule.at.line)


def _fits(rule: Rule, pasted: Pasted) -> bool:
    """Return whether a rule can have raised what was pasted."""
    if pasted.exception is None or rule.exception is None:
        return True
    return rule.exception.rpartition(".")[2] == pasted.exception


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, names taken apart, without numbers: those are filled in."""
    return frozenset(word for word in re.split(r"[^a-z0-9]+", text.lower()) if word and not word.isdigit())


def _contained(said: frozenset[str], template: frozenset[str]) -> float:
    """Return how much of what was said (0-100) stands in a template; too few words say nothing."""
    return 100.0 * len(said & template) / len(said) if len(said) >= _FEWEST_WORDS else 0.0


def _squeezed(code: str) -> str:
    return re.sub(r"\s+", "", code)
