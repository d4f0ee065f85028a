"""Finding a message of SGLang's by what somebody pasted, in any release, without keeping its words.

A message is kept as hashes of three words in a row, so that a pasted text finds it (its values filled in)
though no text of SGLang's is kept. Where it stands through the releases is told by ``messages``.
``python -m indexer.knowledge.message_words OUT.json`` writes the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from indexer.errors import CannotError
from indexer.knowledge.messages import MessageHistory, Stay, sites
from indexer.knowledge.schema import Rule
from indexer.knowledge.timeline import Timeline, message_key, message_timelines
from indexer.templates import PLACEHOLDER

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "message_words.json"
_WORD = re.compile(r"[a-z0-9_]+")
_RAISED = re.compile(r"^\s*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning):\s*")
_RUN = 3
_MOST = 60
"""So many runs of words are kept of one message, spread over it."""
_DIGITS = 5
_WHOLE, _PART, _FEWEST = 0.6, 0.6, 3
"""A paste means a message when it has this part of the message's runs; or, of a shortened paste, when this
part of its own runs, and at least so many, are the message's."""


class Message(msgspec.Struct, frozen=True, array_like=True):
    """One message of a kind, by its ``key`` in ``messages``. ``runs`` are the hashes, one after the other;
    ``changes`` are ``[release, what]``, counted from the oldest: its guard, function or exception;
    ``became`` is the key of what took its place, another wording or the same of another kind, empty for
    none. ``function`` is where it stands in the newest release that has it, ``also`` the other functions
    that say it there."""

    key: str
    kind: str
    exception: str
    function: str
    runs: str
    became: str
    changes: list[tuple[int, str]]
    also: list[str] = []

    def hashes(self) -> frozenset[str]:
        """Return the hashes of the message's runs of words."""
        return frozenset(self.runs[at : at + _DIGITS] for at in range(0, len(self.runs), _DIGITS))


class Found(NamedTuple):
    """A message that a paste may be. ``how`` says how sure that is: all of the message's words stand in
    the paste (``whole``), all of the paste's in the message (``part``), or they are only ``alike``."""

    message: Message
    how: str


WHOLE, PART, ALIKE = "whole", "part", "alike"


class Story(msgspec.Struct, kw_only=True):
    """A message through the releases; ``at`` is its place in the first release of its last stay. ``match``
    says how it was found (see ``Found``), ``text`` is what it says where a release that has it is at hand.
    ``function`` and ``also`` (the others that say it) are those of the last release, ``text_in`` is the
    function of ``text_at``."""

    kind: str
    exception: str | None
    function: str
    first: str
    last: str
    current: bool
    at: str
    events: list[tuple[str, str]]
    match: str = WHOLE
    text: str | None = None
    text_at: str | None = None
    text_in: str | None = None
    also: list[str] = []

    def told(self) -> str:
        """Return the story as lines."""
        until = "now" if self.current else f"{self.last}, gone since"
        exception = f" ({self.exception})" if self.exception else ""
        more = f" and {len(self.also)} more" if self.also else ""
        lines = [f"{self.kind}{exception} in {self.function}{more}: {self.first} … {until}"]
        if self.match == ALIKE:
            lines.append("  like what was asked for, but not word for word")
        if self.text is not None:
            within = f" in {self.text_in}" if self.text_in not in (None, self.function) else ""
            lines.append(f"  says          {self.text}  [{self.text_at}{within}]")
        return "\n".join([*lines, *(f"  {version:<13} {what}" for version, what in self.events)])


class Messages(msgspec.Struct):
    """The messages of all covered releases."""

    messages: list[Message]

    def find(self, text: str, limit: int = 3) -> list[Found]:
        """Return the messages that a pasted text may be, the likeliest first; those that are only like it
        where none is it."""
        words = _words(_RAISED.sub("", text))
        asked = frozenset(_hashes(words, _RUN)) | frozenset(_hashes(words, _RUN - 1))
        length = max(1, len(words) - _RUN + 1)
        found: list[tuple[int, float, int, Found]] = []
        for at, message in enumerate(self.messages):
            own = message.hashes()
            hits = len(own & asked)
            whole, part = hits / len(own), hits / length
            if hits and (whole >= _WHOLE or (part >= _PART and hits >= _FEWEST)):
                how = WHOLE if hits == len(own) else PART if part >= 1 and hits >= _FEWEST else ALIKE
                order = (WHOLE, PART, ALIKE).index(how)
                # Of two messages that a paste holds whole, it is the longer one.
                score = float(hits) if how == WHOLE else round(whole + min(part, 1.0), 1)
                found.append((order, -score, -at, Found(message, how)))
        found.sort(key=lambda one: one[:3])
        sure = [one[-1] for one in found if one[-1].how != ALIKE]
        return (sure or [one[-1] for one in found])[:limit]

    def story(self, message: Message, history: MessageHistory) -> Story:
        """Return what happened to a message, release by release."""
        releases = history.releases
        stays = history.stays_of(message.key)
        events = _stays_told(stays, releases)
        for at in dict.fromkeys(at for at, _ in message.changes):
            changed = " and ".join(what for when, what in message.changes if when == at)
            events.append((releases[at], f"another {changed}"))
        if message.became:
            events += self._heir_told(message, stays[-1], history)
        return Story(
            kind=message.kind,
            exception=message.exception or None,
            function=message.function,
            first=stays[0].first,
            last=stays[-1].last,
            current=stays[-1].current,
            at=f"{stays[-1].at.path}:{stays[-1].at.line}",
            events=sorted(events, key=lambda event: releases.index(event[0])),
            also=message.also,
        )

    def _heir_told(self, message: Message, last: Stay, history: MessageHistory) -> Iterable[tuple[str, str]]:
        """Yield the event of a message's end that says what stands in its place."""
        after = history.releases[history.releases.index(last.last) + 1]
        at = history.place_of(message.became, after)
        heir = next((one for one in self.messages if one.key == message.became), None)
        if at is not None and heir is not None:
            same_words = heir.kind != message.kind and heir.runs == message.runs
            what = f"goes on as {heir.kind}" if same_words else "another wording took its place"
            yield after, f"{what}  [{at.path}:{at.line}]"


def _stays_told(stays: Sequence[Stay], releases: Sequence[str]) -> list[tuple[str, str]]:
    events = []
    before: Stay | None = None
    for stay in stays:
        place = f"  [{stay.at.path}:{stay.at.line}]"
        start = releases.index(stay.first)
        if before is not None and releases.index(before.last) == start - 1:
            events.append((stay.first, f"moved to another file{place}"))
        else:
            if before is not None:
                events.append(_gone(before, releases))
            since = "appeared" if start else "there since before the history begins"
            events.append((stay.first, ("back" if before else since) + place))
        before = stay
    if before is not None and not before.current:
        events.append(_gone(before, releases))
    return events


def _gone(stay: Stay, releases: Sequence[str]) -> tuple[str, str]:
    return releases[releases.index(stay.last) + 1], f"gone (last in {stay.last})"


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _hashes(words: Sequence[str], run: int) -> list[str]:
    runs = (" ".join(words[at : at + run]) for at in range(len(words) - run + 1))
    return [hashlib.blake2b(one.encode(), digest_size=_DIGITS).hexdigest()[:_DIGITS] for one in runs]


def runs_of(template: str) -> str:
    """Return the hashes of a message's runs of words, none of them across a value; empty: too short."""
    pieces = [_words(piece) for piece in PLACEHOLDER.sub("\0", template).split("\0")]
    for run in (_RUN, _RUN - 1):
        found = list(dict.fromkeys(one for words in pieces for one in _hashes(words, run)))
        if found:
            step = max(1, -(-len(found) // _MOST))
            return "".join(found[::step])
    return ""


def fold(versions: Mapping[str, Iterable[Rule]], timelines: Iterable[Timeline]) -> Messages:
    """Return the messages of releases, given oldest first, in the order in which they are met last.

    ``timelines`` follow a wording through all its kinds, and say what took its place.
    """
    position = {version: at for at, version in enumerate(versions)}
    wordings = {one.key: one for one in timelines}
    newest: dict[str, list[Rule]] = {}
    fresh: list[dict[str | None, str]] = []
    before: Collection[str] = ()
    for rules in versions.values():
        said = sites(one for one in rules if one.kind != "override")
        for key in said:
            newest.pop(key, None)
        newest |= said
        fresh.append({message_key(rule): key for key, (rule, *_) in said.items() if key not in before})
        before = said
    own = _timelines_of_kinds(versions)
    found = []
    for key, (rule, *others) in newest.items():
        words = message_key(rule) or ""
        timeline, whole = own.get((rule.kind, words)), wordings.get(words)
        runs = runs_of(rule.message or "")
        if not runs or timeline is None or whole is None:
            continue
        after = {} if timeline.current else fresh[position[timeline.spans[-1][1]] + 1]
        functions = dict.fromkeys(_leaf(one) for one in others)
        found.append(
            Message(
                key,
                rule.kind,
                rule.exception or "",
                _leaf(rule),
                runs,
                became=after.get(words) or after.get(whole.became, ""),
                changes=[(position[change.version], change.what) for change in timeline.changes],
                also=[one for one in functions if one != _leaf(rule)],
            )
        )
    return Messages(found)


def _timelines_of_kinds(versions: Mapping[str, Iterable[Rule]]) -> dict[tuple[str, str], Timeline]:
    """Return what happened to each wording as a message of one kind, by kind and wording."""
    of_kind: dict[str, dict[str, list[Rule]]] = {}
    for version, rules in versions.items():
        for rule in rules:
            of_kind.setdefault(rule.kind, {one: [] for one in versions})[version].append(rule)
    return {
        (kind, one.key): one
        for kind, rules in of_kind.items()
        for one in message_timelines(list(rules.items()))
    }


def _leaf(rule: Rule) -> str:
    return rule.function.rpartition(".")[2]


def load_message_words(path: Path = SHIPPED) -> Messages:
    """Return the messages shipped with the package, or those in ``path``.

    Raises:
        CannotError: the file is missing or damaged.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Messages)
    except (OSError, msgspec.MsgspecError) as error:
        raise CannotError(f"{path.name} can't be read ({error})") from error


def main(target: Path) -> None:
    """Fold the rules of every release of the shipped history (kept from run to run)."""
    from indexer.knowledge.history import load_history
    from indexer.knowledge.release_rules import release_rules

    versions = {version: release_rules(version).rules for version in load_history().versions}
    messages = fold(versions, message_timelines(list(versions.items())))
    rows = b",\n".join(map(msgspec.json.encode, messages.messages))
    target.write_bytes(b'{"messages":[\n' + rows + b"\n]}\n")


if __name__ == "__main__":
    import sys

    main(Path(sys.argv[1]))
