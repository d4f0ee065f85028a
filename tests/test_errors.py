"""Messages to the user: what they repeat of an input is cut."""

from __future__ import annotations

import pytest

from indexer.errors import UsageError, shortened

LONG = "x" * 3_000


@pytest.mark.parametrize(
    "text",
    [
        f"there is no flag {LONG}",
        f"there is no flag {LONG!r}; did you mean --a?",
        f"`indexer search {LONG}` finds words",
        f"no file '{'a b ' * 1_000}' is there",
    ],
)
def test_an_input_is_not_repeated_whole(text: str) -> None:
    told = str(UsageError(text, f"not {LONG}"))
    assert len(told) < 500
    assert told.count("…") == 2


def test_the_rest_of_a_message_and_closing_quotes_stay() -> None:
    assert shortened(f"there is no flag {LONG!r}; did you mean --a?").endswith("x'; did you mean --a?")
    assert shortened(f"{'/folder' * 100}/config.json is broken").endswith("/folder/config.json is broken")


def test_what_is_not_absurdly_long_stays() -> None:
    path = "/" + "/".join(["a_folder"] * 20)
    text = f"{path} isn't 'there', {'and words go on ' * 40}, nor is 'that'"
    assert shortened(text) == text
