"""Since when and until when each message of SGLang's exists, and in which file: through all releases.

The shipped file holds no text of SGLang's: a message is known by a digest of its template without what run
time fills in, which is what survives from release to release while the expressions around it change.

In the file, releases and paths are lists; a message's ``runs`` are ``[first, path, [line, step, ...]]``:
consecutive releases from index ``first`` in one file, each step added to the line before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from indexer.errors import CannotError
from indexer.knowledge.schema import Location, Rule
from indexer.templates import template_key

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "messages.json"
_SCHEMA = 1
_DIGEST_BYTES = 6

_Run = tuple[int, int, list[int]]


class MessageFile(msgspec.Struct):
    """The file as it is written."""

    schema: int
    releases: list[str]
    paths: list[str]
    messages: dict[str, list[_Run]]


class Stay(msgspec.Struct, frozen=True):
    """Consecutive releases in which a message stands in one file; ``at`` is its place in the first."""

    first: str
    last: str
    at: Location
    current: bool


def message_digest(rule: Rule) -> str | None:
    """Return what a rule's message is known by in every release; None where it has none."""
    return digest(rule.kind, rule.message or "")


def digest(kind: str, message: str) -> str | None:
    """Return what a message of a kind of rule is known by; None where it has no words of its own."""
    template = template_key(message)
    if not any(letter.isalpha() for letter in template):
        return None
    return hashlib.blake2b(f"{kind}\0{template}".encode(), digest_size=_DIGEST_BYTES).hexdigest()


class MessageHistory:
    """The stays of every message."""

    def __init__(self, file: MessageFile) -> None:
        self._file = file

    @property
    def releases(self) -> list[str]:
        """All covered releases, oldest first."""
        return self._file.releases

    def stays(self, rule: Rule) -> list[Stay]:
        """Return where a rule's message stands through the releases, oldest first; empty if it is unknown."""
        return self.stays_of(message_digest(rule) or "")

    def stays_of(self, key: str) -> list[Stay]:
        """Return where the message of a key stands through the releases, oldest first."""
        file = self._file
        newest = len(file.releases) - 1
        found = []
        for first, path, lines in file.messages.get(key, []):
            last = first + len(lines) - 1
            at = Location(file.paths[path], lines[0])
            found.append(Stay(file.releases[first], file.releases[last], at, last == newest))
        return found

    def place(self, rule: Rule, version: str) -> Location | None:
        """Return where a rule's message stands in a release, None where it doesn't."""
        return self.place_of(message_digest(rule) or "", version)

    def place_of(self, key: str, version: str) -> Location | None:
        """Return where the message of a key stands in a release, None where it doesn't."""
        file = self._file
        if version not in file.releases:
            return None
        index = file.releases.index(version)
        for first, path, lines in file.messages.get(key, []):
            if first <= index < first + len(lines):
                return Location(file.paths[path], sum(lines[: index - first + 1]))
        return None


@lru_cache(maxsize=1)
def load_messages() -> MessageHistory | None:
    """Return the shipped history of messages, None where this installation has none.

    Raises:
        CannotError: the file is damaged.
    """
    try:
        file = msgspec.json.decode(SHIPPED.read_bytes(), type=MessageFile)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise CannotError(f"{SHIPPED.name} is damaged: {error}") from error
    return MessageHistory(file) if file.schema == _SCHEMA else None


def fold_messages(rules: Mapping[str, Iterable[Rule]]) -> bytes:
    """Return the file for the rules of releases, given oldest first."""
    paths: dict[str, int] = {}
    messages: dict[str, list[_Run]] = {}
    for index, found in enumerate(rules.values()):
        for key, (rule, *_) in sites(found).items():
            at = rule.at
            number = paths.setdefault(at.path, len(paths))
            runs = messages.setdefault(key, [])
            if runs and runs[-1][1] == number and runs[-1][0] + len(runs[-1][2]) == index:
                runs[-1][2].append(at.line - sum(runs[-1][2]))
            else:
                runs.append((index, number, [at.line]))
    file = MessageFile(_SCHEMA, list(rules), list(paths), dict(sorted(messages.items())))
    return msgspec.json.encode(file) + b"\n"


def sites(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """Return, by message, the rules of a release that say it, in the order of their places: the first is
    where the message stands, for whoever tells one place."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        if (key := message_digest(rule)) is not None:
            found.setdefault(key, []).append(rule)
    return {key: sorted(said, key=lambda one: (one.at.path, one.at.line)) for key, said in found.items()}


def main(target: Path) -> None:
    """Write the file anew from the rules of every release of the shipped history."""
    from indexer.knowledge.history import load_history
    from indexer.knowledge.release_rules import release_rules

    rules = {version: release_rules(version).rules for version in load_history().versions}
    target.write_bytes(fold_messages(rules))


if __name__ == "__main__":
    import sys

    main(Path(sys.argv[1]))
