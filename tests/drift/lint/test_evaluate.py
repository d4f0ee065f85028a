"""Three-valued evaluation: certain, or ``...``; and what Python itself would stumble over."""

from __future__ import annotations

from typing import Any

import pytest

from indexer.drift.lint.evaluate import Crash, Untold, compiled, condition, names_in

STATE = {"path": Untold("/m"), "n": 4, "none": None, "text": "Fa3", "yes": True, "items": ["a"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n > 1 and yes", True),
        ("n > 1 and ...", ...),
        ("... and n > 9", ...),
        ("... or yes", ...),
        ("... or n > 9", ...),
        ("unknown or 64", ...),  # its truth would be certain, its value isn't
        ("(unknown or text) in (None, 'Fa3')", ...),
        ("(unknown or 1) != 1", ...),
        ("not (unknown or yes)", False),
        ("'x' if unknown or yes else 'y'", "x"),
        ("(unknown or 4) + 1", ...),
        ("not (unknown)", ...),
        ("unknown == 1", ...),
        ("path == path", ...),  # two variables of a script, say
        ("path in (None, path)", ...),
        ("path is None", False),
        ("path == None", False),
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
    ("text", "truth"),
    [
        ("unknown or 64", True),
        ("... or yes", True),
        ("... and n > 9", False),
        ("(unknown or yes) and n == 4", True),
        ("(unknown or 1) != 1", ...),
        ("... or n > 9", ...),
    ],
)
def test_truth_is_known_where_the_value_is_not(text: str, truth: Any) -> None:
    assert condition(text)(STATE) == truth


@pytest.mark.parametrize(
    ("text", "error"),
    [("none > 1", "TypeError"), ("n % 0", "ZeroDivisionError"), ("none.lower() == 'a'", "AttributeError")],
)
def test_python_would_stumble(text: str, error: str) -> None:
    with pytest.raises(Crash, match=error):
        compiled(text)(STATE)


def test_names_are_the_fields_only() -> None:
    assert names_in("isinstance(a, str) and len(b) > 1 and c.lower() == 'd'") == {"a", "b", "c"}
