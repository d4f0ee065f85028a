"""The shipped resolver steps and message words are those of a fresh reading."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexer.extract.algorithms import extract_algorithms
from indexer.extract.rules import extract_rules
from indexer.knowledge.history import load_history
from indexer.knowledge.message_words import load_message_words
from indexer.knowledge.messages import message_digest
from indexer.knowledge.refusals.steps import spellings, steps_of
from indexer.knowledge.rehearsal import Step, load_rehearsals
from indexer.source.tree import SourceTree
from indexer.syntax.graph import ModuleGraph

pytestmark = pytest.mark.release


def told(step: Step, line: int) -> tuple[object, ...]:
    return (step.guard, step.writes, step.exception, step.told, step.path, line)


@pytest.mark.parametrize("version", ["0.4.10", pytest.param("0.5.23", marks=pytest.mark.slow)])
def test_a_fresh_reading_gives_what_ships(version: str, release_tree: Callable[[str], SourceTree]) -> None:
    graph = ModuleGraph(release_tree(version))
    rules, (_, algorithms) = extract_rules(graph), extract_algorithms(graph)
    fields = [field.name for field in load_history().fields_at(version)]
    fresh: dict[tuple[object, ...], int] = {}
    raising: dict[tuple[object, ...], list[tuple[int, str, int]]] = {}
    for step in steps_of(rules, fields, algorithms):
        fresh.setdefault(told(step, 0), step.line)
        raising.setdefault(told(step, 0), list(step.raising))
    rehearsals = load_rehearsals()
    shipped = {
        told(step, 0): rehearsals.place(version, step).line if step.path else 0
        for step in rehearsals.steps(version)
    }
    assert shipped == fresh
    asked = {
        told(step, 0): [
            (at, path, place.line)
            for at, path, _ in step.raising
            if (place := rehearsals.place_of(version, step, step.guard[at]))
        ]
        for step in rehearsals.steps(version)
    }
    assert asked == raising
    names = {name for one in algorithms for name in spellings(one)}
    assert rehearsals.algorithms(version) == sorted(names)
    known = {message.key for message in load_message_words().messages}
    said = {message_digest(rule) for rule in rules if rule.kind in ("error", "warning") and rule.message}
    assert len((said - {None}) - known) <= 0.05 * len(said)  # a message of one word has no runs
