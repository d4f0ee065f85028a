"""The file of resolver steps: what is folded comes back, with its lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from indexer.errors import CannotError
from indexer.knowledge.rehearsal import Step, encode, fold, load_rehearsals

REFUSES = Step(("a > 1", "not (b)"), exception="ValueError", path="x.py", line=10, raising=((0, "x.py", 8),))
WRITES = Step(("a > 1",), (("b", "False"),), told=True, path="x.py", line=20)
SILENT = Step(("...",), (("a", "..."),))
CALLED = Step(("b", "a < 2"), (("b", "False"),), raising=((1, "caller.py", 300),))
LATER = Step(("c",), exception="AssertionError", path="y.py", line=7)


def moved(step: Step, line: int) -> Step:
    by = line - step.line
    raising = tuple((at, path, asked + by) for at, path, asked in step.raising)
    return Step(step.guard, step.writes, step.exception, step.told, step.path, line, raising)


RELEASES = {
    "1": [REFUSES, SILENT, WRITES],
    "2": [moved(REFUSES, 15), SILENT, CALLED, LATER, moved(WRITES, 25)],
    "3": [LATER, moved(WRITES, 90), replace(CALLED, raising=((1, "caller.py", 304),))],
}


def test_folded_steps_come_back_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    file.write_bytes(encode(fold(RELEASES, {"1": ["B", "A"]})))
    read = load_rehearsals(file)
    for version, steps in RELEASES.items():
        told = [
            (one.guard, one.writes, one.exception, one.told, read.place(version, one).line if one.path else 0)
            for one in read.steps(version)
        ]
        assert told == [(one.guard, one.writes, one.exception, one.told, one.line) for one in steps]
        asked = [
            (place.path, place.line) if (place := read.place_of(version, one, text)) else None
            for one in read.steps(version)
            for text in one.guard
        ]
        places = [{one.guard[at]: (path, line) for at, path, line in one.raising} for one in steps]
        assert asked == [
            known.get(text) for one, known in zip(steps, places, strict=True) for text in one.guard
        ]
    assert read.algorithms("1") == ["A", "B"]
    assert read.steps("4") == [] and read.algorithms("4") == []


def test_same_release_makes_the_same_bytes() -> None:
    assert encode(fold(RELEASES)) == encode(fold(dict(RELEASES)))


def test_special_architectures_are_named(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    file.write_bytes(
        encode(fold({"1": [Step(("__architecture in ('OddForCausalLM', 'Queer')",), (("a", "1"),))]}))
    )
    assert load_rehearsals(file).special_architectures("1") == {"OddForCausalLM", "Queer"}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"schema": 1}'])
def test_damaged_file_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "steps.json").write_bytes(content)
    with pytest.raises(CannotError, match="damaged"):
        load_rehearsals(tmp_path / "steps.json")


def test_shipped_steps_cover_the_shipped_history() -> None:
    from indexer.knowledge.history import load_history

    rehearsals = load_rehearsals()
    versions = load_history().versions
    assert all(rehearsals.steps(version) for version in versions)
    newest = rehearsals.steps(versions[-1])
    assert sum(bool(step.exception) for step in newest) > 100
