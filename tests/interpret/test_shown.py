"""Equal configurations of one class have one text, which is made once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from indexer.interpret.shown import keep_texts


class Tree:
    """What texts are kept for."""


@pytest.fixture
def program() -> Any:
    return SimpleNamespace(whole_tree=Tree(), versions=("1",), world=SimpleNamespace(events=[]))


def configuration(program: Any, made: list[Any]) -> Any:
    class Config:
        def __init__(self, **held: Any) -> None:
            self.__dict__.update(held)

        def __repr__(self) -> str:
            made.append(self)
            if "noisy" in vars(self):
                program.world.events.append("said")
            return f"Config {sorted(vars(self).items())}"

    keep_texts(Config, program)
    return Config


def test_equal_ones_are_shown_once(program: Any) -> None:
    made: list[Any] = []
    one, other = (configuration(program, made) for _ in range(2))  # the class of each launch is its own
    texts = {repr(kind(layers=2, rope={"theta": 1.0}, of=kind(width=3))) for kind in (one, other, one)}
    assert len(texts) == 1
    assert len([config for config in made if "layers" in vars(config)]) == 1


@pytest.mark.parametrize("other", [{"a": True}, {"a": 1.0}, {"a": [1]}, {"b": 1}, {"a": 1, "b": 2}])
def test_what_differs_is_shown_anew(program: Any, other: dict[str, Any]) -> None:
    config = configuration(program, [])
    assert repr(config(a=1)) == "Config [('a', 1)]"
    assert repr(config(**other)) == f"Config {sorted(other.items())}"


@pytest.mark.parametrize("held", [{"a": object()}, {"noisy": 1}])
def test_what_cannot_be_compared_or_says_something_is_made_each_time(
    program: Any, held: dict[str, Any]
) -> None:
    made: list[Any] = []
    config = configuration(program, made)
    assert repr(config(**held)) == repr(config(**held))
    assert len(made) == 2


def test_other_versions_have_texts_of_their_own(program: Any) -> None:
    made: list[Any] = []
    repr(configuration(program, made)(a=1))
    program.versions = ("2",)
    repr(configuration(program, made)(a=1))
    assert len(made) == 2
