"""Releases and spans of them as people write them, for every command."""

from __future__ import annotations

import pytest

from indexer.errors import UsageError
from indexer.knowledge.spans import covered, versions_between

VERSIONS = ["0.4.10", "0.5.1", "0.5.9", "0.5.9.post1", "0.5.10", "0.5.12"]


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ("0.5.9..0.5.10", ["0.5.9", "0.5.9.post1", "0.5.10"]),
        ("v0.5.10..latest", ["0.5.10", "0.5.12"]),
        ("0.5.10..", ["0.5.10", "0.5.12"]),
        ("..0.5.1", ["0.4.10", "0.5.1"]),
        ("..", VERSIONS),
        ("0.5.0..0.5.2", ["0.5.1"]),
        ("0.5.1..0.5.1", ["0.5.1"]),
    ],
)
def test_a_span_holds_both_its_ends(span: str, found: list[str]) -> None:
    assert versions_between(span, VERSIONS) == found


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (
            "0.5.9",
            "--versions 0.5.9: not A..B; for example --versions 0.4.10..0.5.12, or --versions 0.5.12..",
        ),
        ("0.5.10..0.5.9", "--versions 0.5.10..0.5.9: 0.5.10 is newer than 0.5.9; write 0.5.9..0.5.10"),
        (
            "0.5.9..0.5.13",
            "--versions 0.5.9..0.5.13: SGLang 0.5.13 is not covered; covered: 0.4.10 to 0.5.12",
        ),
        ("0.3..", "--versions 0.3..: SGLang 0.3 is not covered; covered: 0.4.10 to 0.5.12"),
        ("0.5.2..0.5.3", "--versions 0.5.2..0.5.3: no release lies between them; covered: 0.4.10 to 0.5.12"),
        ("0.5.x..", "'0.5.x' is no version; write it like 0.5.9"),
    ],
)
def test_a_span_that_is_none_says_what_to_write(span: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        versions_between(span, VERSIONS)
    assert str(error.value) == said


def test_one_release_in_its_spellings() -> None:
    assert [covered(one, VERSIONS) for one in ("0.5.9", "v0.5.9", " latest ")] == ["0.5.9", "0.5.9", "0.5.12"]
    with pytest.raises(UsageError, match=r"0\.5\.11 is not covered"):
        covered("0.5.11", VERSIONS)
