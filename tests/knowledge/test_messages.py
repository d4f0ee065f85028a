"""Messages through the releases: known by what stays the same, told with the file they stand in."""

from __future__ import annotations

import json

import msgspec
import pytest

from indexer.knowledge.messages import (
    SHIPPED,
    MessageFile,
    MessageHistory,
    fold_messages,
    load_messages,
    message_digest,
)
from indexer.knowledge.schema import Location, Rule


def _rule(message: str | None, line: int, path: str = "a.py", kind: str = "error") -> Rule:
    return Rule(f"r{line}", kind, Location(path, line), "f", message=message)


def test_what_run_time_fills_in_does_not_tell_messages_apart() -> None:
    key = message_digest(_rule("no {self.x} for   {a!r}", 1))
    assert key == message_digest(_rule("no {cfg.x} for {b}", 9, "b.py"))
    assert key == message_digest(_rule("no %s for %d", 3))
    assert key != message_digest(_rule("no {x} for {y}", 1, kind="warning"))
    assert message_digest(_rule("{x}", 1)) is None
    assert message_digest(_rule(None, 1)) is None


def test_stays_are_runs_of_releases_in_one_file() -> None:
    told = "steps {x} are needed"
    rules = {
        "1": [_rule(told, 10)],
        "2": [_rule(told, 14), _rule(told, 30)],
        "3": [],
        "4": [_rule(told, 5, "b.py")],
        "5": [_rule(told, 4, "b.py")],
    }
    history = MessageHistory(msgspec.json.decode(fold_messages(rules), type=MessageFile))
    first, second = history.stays(_rule("steps {y} are needed", 0))
    assert (first.first, first.last, first.at, first.current) == ("1", "2", Location("a.py", 10), False)
    assert (second.first, second.last, second.at, second.current) == ("4", "5", Location("b.py", 5), True)
    assert history.place(_rule(told, 0), "2") == Location("a.py", 14)
    assert history.place(_rule(told, 0), "5") == Location("b.py", 4)
    assert history.place(_rule(told, 0), "3") is None
    assert not history.stays(_rule("something else", 0))


def test_the_shipped_file_holds_no_text_of_sglang() -> None:
    history = load_messages()
    assert history is not None
    assert history.releases[0] == "0.4.1"
    file = json.loads(SHIPPED.read_text())
    assert set(file) == {"schema", "releases", "paths", "messages"}
    assert all(len(key) == 12 for key in file["messages"])
    assert SHIPPED.stat().st_size < 400_000


@pytest.mark.release
@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.5.9", "0.5.23"])
def test_the_shipped_places_are_those_of_the_release(version) -> None:
    from indexer.knowledge.release_rules import release_rules

    history = load_messages()
    rules = [rule for rule in release_rules(version).rules if message_digest(rule) is not None]
    places = {(rule.at.path, rule.at.line) for rule in rules}
    told = [history.place(rule, version) for rule in rules]
    assert len(rules) > 300
    assert all(at is not None and (at.path, at.line) in places for at in told)
