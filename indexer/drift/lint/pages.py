"""The documentation of the lints, made from their data entries.

``python -m indexer.drift.lint.pages docs/checks.md`` writes it, ``--check`` compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

from indexer.drift.lint.lints import LINTS, Lint
from indexer.drift.report.record import LEVELS

_HEAD = """\
# What `indexer check` finds

This page is made from the lints' data: change `indexer/drift/lint/lints.py` and run
`python -m indexer.drift.lint.pages docs/checks.md`. `indexer check --about CODE` prints an entry.

START: the server would not start. MEANING: it would run with other settings. HINT: good to know.

| code | level | what |
|---|---|---|
"""


def page(lint: Lint) -> str:
    """Return one lint's section in Markdown."""
    return (
        f"## {lint.code}\n\n**{lint.level}** · {lint.title}\n\n{lint.what} {lint.why}\n\n"
        f"Example, found on SGLang {lint.example_version}:\n\n```\n{lint.example}\n```\n\n"
        f"Use instead: {lint.instead[0].lower()}{lint.instead[1:]}\n"
    )


def all_pages() -> str:
    """Return the whole document: a table, then every lint, worst level first."""
    ordered = sorted(LINTS.values(), key=lambda lint: LEVELS.index(lint.level))
    rows = [f"| [{lint.code}](#{lint.code}) | {lint.level} | {lint.title} |" for lint in ordered]
    return _HEAD + "\n".join(rows) + "\n\n" + "\n".join(page(lint) for lint in ordered)


def main(arguments: list[str]) -> int:
    """Write or compare the document; return the exit code."""
    paths = [Path(argument) for argument in arguments if not argument.startswith("-")]
    if len(paths) != 1:
        print("usage: python -m indexer.drift.lint.pages [--check] FILE", file=sys.stderr)
        return 2
    text = all_pages()
    if "--check" in arguments:
        if paths[0].is_file() and paths[0].read_text(encoding="utf-8") == text:
            return 0
        print(f"{paths[0]} is out of date: python -m indexer.drift.lint.pages {paths[0]}", file=sys.stderr)
        return 1
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    paths[0].write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
