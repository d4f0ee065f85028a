"""Three-valued evaluation: certain, or ``...``; and what Python itself would stumble over."""

from __future__ import annotations

from typing import Any

import pytest

from indexer.drift.lint.evaluate import Crash, compiled, names_in

STATE = {"n": 4, "none": None, "text": "Fa3", "yes": True, "items": ["a"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n > 1 and yes", True),
        ("n > 1 and ...", ...),
        ("... and n > 9", False),
        ("... or yes", True),
        ("... or n > 9", ...),
        ("not (unknown)", ...),
        ("unknown == 1", ...),
        ("none is None or none > 1", True),
        ("text.lower() in ['fa3', 'x']", True),
        ("unknown.lower() == 'a'", ...),
        ("n % 3 == 1", True),
        ("1 <= n <= 3", False),
        ("len(items) == 1", True),
        ("isinstance(items, (list, dict))", True),
        ("'x' if yes else ...", "x"),
        ("'x' if unknown else 'y'", ...),
        ("text * 9", ...),
        ("... and none > 1", ...),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert compiled(text)(STATE) == value


@pytest.mark.parametrize(
    ("text", "error"),
    [("none > 1", "TypeError"), ("n % 0", "ZeroDivisionError"), ("none.lower() == 'a'", "AttributeError")],
)
def test_python_would_stumble(text: str, error: str) -> None:
    with pytest.raises(Crash, match=error):
        compiled(text)(STATE)


def test_names_are_the_fields_only() -> None:
    assert names_in("isinstance(a, str) and len(b) > 1 and c.lower() == 'd'") == {"a", "b", "c"}
