"""Text that fits a terminal, and is left alone in a pipe."""

from __future__ import annotations

import pytest

from indexer.cli._terminal import fit

LONG = "  --some-option meant --some-option-spelled-out, now ambiguous: could match --one-more, --another\n"
SNIPPET = "    1 | " + "x" * 120


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)


def test_lines_are_wrapped_at_words_with_a_hanging_indent(terminal: None) -> None:
    lines = fit(LONG).splitlines()
    assert max(map(len, lines)) <= 60 and len(lines) == 2
    assert lines[1].startswith("      ") and "--some-option-spelled-out" in lines[0]
    assert " ".join(" ".join(lines).split()) == " ".join(LONG.split()), "nothing is lost"
    assert fit(SNIPPET) == SNIPPET and fit(LONG).endswith("\n")


def test_a_pipe_gets_records() -> None:
    assert fit(LONG) == LONG
