"""The names that ``indexer path`` takes."""

from __future__ import annotations

from typing import Any, cast

import pytest
from click.testing import CliRunner

from indexer.cli.path import _named, command
from indexer.errors import UsageError


class Functions:
    """What ``path`` asks of a survey about names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def named(self, name: str) -> set[int]:
        return {at for at, one in enumerate(self.names) if one == name}

    def near(self, name: str) -> list[str]:
        return [one for one in self.names if one.casefold()[:4] == name.casefold()[:4]]


def named(name: str, *known: str) -> set[int]:
    return _named(cast("Any", Functions(*known)), name, "1.0")


def test_its_own_spelling_or_another_case_of_the_only_one() -> None:
    assert named("Worker.verify", "Worker.verify", "worker.verify") == {0}
    assert named("worker.VERIFY", "Worker.verify", "Worker.draft") == {0}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("WORKER.verify", "nearest: Worker.verify, worker.verify"),  # it could be either
        ("Worker.verifi", "nearest: Worker.verify"),
        ("nonsense", "stands for any part"),
    ],
)
def test_what_is_said_where_there_is_none(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        named(name, "Worker.verify", "worker.verify")


def test_an_empty_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="is empty"):
        CliRunner().invoke(command, ["", "x"], catch_exceptions=False)
