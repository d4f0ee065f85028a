"""Every citation is re-opened; a dead one is told with its place and what was expected."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from indexer.knowledge.schema import Location, Snapshot
from indexer.publish.citations import count_citations, dead_citations
from indexer.publish.excerpts import SourceText
from tests.small_site import ARGS, at, small_snapshot, small_tree


def dead(snapshot: Snapshot) -> list[str]:
    return [str(citation) for citation in dead_citations(snapshot, SourceText(small_tree()))]


def test_living_citations_are_silent() -> None:
    assert dead(small_snapshot()) == []
    assert count_citations(small_snapshot()) > 15


def moved(snapshot: Snapshot) -> None:
    snapshot.flags[0].declared_at = at("BACKENDS")


def choice_elsewhere(snapshot: Snapshot) -> None:
    snapshot.flags[2].choices_at[0].at = at('"other"')


def beyond_the_end(snapshot: Snapshot) -> None:
    snapshot.rules[0] = msgspec.structs.replace(snapshot.rules[0], at=Location(ARGS, 999))


def no_such_file(snapshot: Snapshot) -> None:
    snapshot.env_vars[0].declared_at = Location("python/sglang/gone.py", 1)


def longer_name(snapshot: Snapshot) -> None:
    snapshot.algorithms[0] = msgspec.structs.replace(snapshot.algorithms[0], name="FAS")


def read_elsewhere(snapshot: Snapshot) -> None:
    snapshot.flags[0].dest = snapshot.flags[0].field = "renamed_steps"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (moved, "flag:speculative-draft-steps declaration: none of"),
        (choice_elsewhere, "flag:backend choice: none of 'triton' there"),
        (beyond_the_end, "rule:steps-needed place: the file has"),
        (no_such_file, "env:TINY_DEBUG declaration: no such file"),
        (longer_name, "algorithm:FAS declaration: none of 'FAS' there"),
        (read_elsewhere, "flag:speculative-draft-steps declaration: none of"),
    ],
)
def test_a_dead_citation_is_told(change: Callable[[Snapshot], None], told: str) -> None:
    snapshot = small_snapshot()
    change(snapshot)
    line = dead(snapshot)[0]
    assert told in line
    assert line.startswith("python/sglang/")
