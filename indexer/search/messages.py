"""From a pasted error or log line, its values filled in, to the rule that wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import log

import msgspec

from indexer.knowledge.schema import Location, Rule
from indexer.search.pasted import Frame, Pasted, take_apart
from indexer.search.words import SMALL_WORDS
from indexer.templates import PLACEHOLDER

_LEAST_LITERAL = 10
"""Fewest literal characters of a template that say anything."""
_NEAR = 82.0
_SURE = 90.0
"""Likeness (0-100), of words and best stretch together, from which words alone point at a message."""
_LEAST_STRETCH = 80.0
"""Likeness (0-100) of the best stretch below which a message is not looked at more closely."""
_SNIPPET = 30
"""Fewest characters of a stretch out of a message that can stand for it."""
_LEAST_TOLD = 0.7
"""Least share of the words of what was said, each by how rare it is, that a message has which is alike."""
_MISTYPED = 80.0
"""Likeness (0-100) from which two words are the same one, mistyped."""
_LONG_WORD = 4
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


class Wording(msgspec.Struct, array_like=True):
    """The words of a rule's message, ready to be compared; ``rule`` is its place among the rules, ``parts``
    the literal text around its placeholders."""

    rule: int
    exception: str | None
    parts: list[str]

    @property
    def plain(self) -> str:
        """Return the message without what run time fills in."""
        return " ".join(part for part in self.parts if part)


def wordings(rules: Sequence[Rule]) -> list[Wording]:
    """Return the wordings of the messages of a version's rules."""
    return [
        Wording(at, rule.exception, _parts(rule.message))
        for at, rule in enumerate(rules)
        if rule.message and rule.companion is None
    ]


class MessageIndex:
    """The message templates of a version's rules. ``read`` gives the rules: only who finds something, or
    pastes lines of code, waits for them."""

    def __init__(self, words: Sequence[Wording], read: Callable[[], Sequence[Rule]]) -> None:
        self._read = read
        self._words = words
        self._rarities: dict[str, float] = {}

    @classmethod
    def of(cls, rules: Sequence[Rule]) -> MessageIndex:
        """Return the index of rules that are at hand."""
        return cls(wordings(rules), lambda: rules)

    @cached_property
    def _rules(self) -> Sequence[Rule]:
        return self._read()

    def _rule(self, words: Wording) -> Rule:
        return self._rules[words.rule]

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
                if _at(rule, frame) and _fits(rule.exception, pasted):
                    yield Match(rule, "line", 1.0 / (1 + abs(rule.at.line - frame.line)))

    def _by_message(self, pasted: Pasted) -> Iterable[Match]:
        for message in pasted.messages:
            flat = " ".join(message.split())
            for words in self._words:
                if _could_say(words, flat) and _fits(words.exception, pasted):
                    match = _Template(words, partial(self._rule, words)).match(flat)
                    if match is not None:
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
        from rapidfuzz import fuzz, process

        for message in [one for one in pasted.messages[:1] if len(one) >= _LEAST_LITERAL]:
            plain = dict(self._with_words_of(message))
            alike = process.extract(
                message, plain, scorer=fuzz.partial_ratio, score_cutoff=_LEAST_STRETCH, limit=None
            )
            said = _words(message)
            for one, stretch, at in alike:
                words = max(fuzz.token_set_ratio(message, one), _contained(said, _words(one)))
                whole = stretch if min(len(message), len(one)) >= _SNIPPET else 0.0
                alike_enough = max(words, whole) >= _NEAR and words + stretch >= 2 * _SURE
                if alike_enough and self._told(said, one) >= _LEAST_TOLD:
                    yield Match(self._rule(self._words[at]), "near", (words + stretch) / 200)

    def _told(self, said: frozenset[str], message: str) -> float:
        """Return 0..1: how much of what was said a message has; words that many messages have say little."""
        from rapidfuzz import fuzz

        telling = said - SMALL_WORDS or said
        weights = {word: self._rarity(word) for word in telling}
        there = _words(message)
        told = [
            weight
            for word, weight in weights.items()
            if word in there or any(fuzz.ratio(word, one) >= _MISTYPED for one in there)
        ]
        return sum(told) / sum(weights.values()) if weights else 0.0

    def _rarity(self, word: str) -> float:
        if word not in self._rarities:
            count = sum(word in words.plain.lower() for words in self._words)
            self._rarities[word] = log((len(self._words) + 1) / (count + 0.5))
        return self._rarities[word]

    def _with_words_of(self, message: str) -> Iterable[tuple[int, str]]:
        """Yield the messages, by place, that have at least half of the longer words of what was said."""
        said = {word for word in message.lower().split() if len(word) >= _LONG_WORD}
        for at, words in enumerate(self._words):
            plain = words.plain
            lower = plain.lower()
            if len(plain) >= _LEAST_LITERAL and 2 * sum(word in lower for word in said) >= len(said):
                yield at, plain


def _could_say(words: Wording, text: str) -> bool:
    """Tell quickly whether a template may match: whether its longest literal is said, or says the text."""
    return max(words.parts, key=len) in text or text in words.plain


def _parts(message: str) -> list[str]:
    return [" ".join(part.split()) for part in PLACEHOLDER.sub("\0", message).split("\0")]


@dataclass
class _Template:
    words: Wording
    read: Callable[[], Rule]

    @cached_property
    def rule(self) -> Rule:
        return self.read()

    @property
    def parts(self) -> list[str]:
        return self.words.parts

    @cached_property
    def plain(self) -> str:
        return self.words.plain

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


def says(template: str, text: str) -> bool:
    """Tell whether a pasted text is a message, its values filled in, a part of it, or has it in it."""
    rule = Rule("", "", Location("", 0), "", message=template)
    return any(match.how == "message" for match in MessageIndex.of([rule]).find(text))


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


def _fits(exception: str | None, pasted: Pasted) -> bool:
    """Return whether a rule with this exception can have raised what was pasted."""
    if pasted.exception is None or exception is None:
        return True
    return exception.rpartition(".")[2] == pasted.exception


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, names taken apart, without numbers: those are filled in."""
    return frozenset(word for word in re.split(r"[^a-z0-9]+", text.lower()) if word and not word.isdigit())


def _contained(said: frozenset[str], template: frozenset[str]) -> float:
    """Return how much of what was said (0-100) stands in a template; too few words say nothing."""
    return 100.0 * len(said & template) / len(said) if len(said) >= _FEWEST_WORDS else 0.0


def _squeezed(code: str) -> str:
    return re.sub(r"\s+", "", code)
