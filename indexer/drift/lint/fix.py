"""``--fix`` and ``--diff``: only rewrites that are certain, everything else byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

Edit = tuple[int, int, str]
"""``(start, end, new text)`` in characters."""


def apply(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """Return the text with the edits made, and how many were.

    An edit met twice is made once. Of edits that overlap or disagree none is made: what two versions
    want differently isn't certain.
    """
    chosen = sorted(set(edits))
    clashing = {
        edit for first, second in pairwise(chosen) if second[0] < first[1] for edit in (first, second)
    }
    parts, position, made = [], 0, 0
    for start, end, new in chosen:
        if (start, end, new) in clashing:
            continue
        parts += [text[position:start], new]
        position, made = end, made + 1
    parts.append(text[position:])
    return "".join(parts), made


def write(path: Path, text: str) -> None:
    """Write a file back, with its own mode and through links; line ends are part of the text."""
    from indexer.knowledge.store import write_atomically

    target = path.resolve()
    mode = target.stat().st_mode
    write_atomically(target, text.encode("utf-8"))
    target.chmod(mode & 0o7777)


def diff(name: str, before: str, after: str) -> str:
    """Return a unified diff that ``patch`` takes; a missing last line end is said as git says it."""
    import difflib  # only for --diff

    lines = []
    for line in difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    ):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)
