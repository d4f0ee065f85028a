"""Accepting findings: ``# indexer: ignore[code] reason`` and a baseline that only shrinks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from indexer.drift.lint.lints import CODES
from indexer.drift.report.record import Finding
from indexer.errors import CannotError, UsageError
from indexer.knowledge.store import write_atomically

_COMMENT = re.compile(
    r"(?:#|//|<!--)[ \t]*indexer:[ \t]*ignore(?P<file>-file)?[ \t]*\[(?P<codes>[\w\s,-]*)\](?P<reason>[^\n]*)"
)
_ONLY_COMMENT = re.compile(r"^[ \t]*(?:#|//|<!--)")
_HEADER = """\
# Findings that `indexer check` accepts in these files. Each needs a reason; an entry whose finding is
# gone fails the run, so the file can only shrink. Remove it by hand or with --write-baseline.
"""


class Comments:
    """The ignore comments of one file.

    A comment behind code concerns its line; one alone on a line the following command, however many
    lines it is continued over; ``ignore-file`` the whole file.
    """

    def __init__(self, text: str) -> None:
        self.everywhere: set[str] = set()
        self.on_line: dict[int, set[str]] = {}
        self.problems: list[str] = []
        if "indexer:" not in text:
            return
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            match = _COMMENT.search(line)
            if match:
                self._add(match, number, lines)

    def _add(self, match: re.Match[str], number: int, lines: list[str]) -> None:
        codes = {code.strip() for code in match["codes"].split(",") if code.strip()}
        for code in sorted(codes - set(CODES)):
            self.problems.append(f"line {number}: ignore[{code}]: no such code")
        if not match["reason"].replace("-->", "").strip():
            self.problems.append(f"line {number}: an ignore comment needs a reason behind it")
            return
        if match["file"]:
            self.everywhere |= codes
            return
        concerned = [number]
        if _ONLY_COMMENT.match(lines[number - 1]):
            concerned = _following_command(lines, number)
        for line in concerned:
            self.on_line.setdefault(line, set()).update(codes)

    def accepts(self, finding: Finding) -> bool:
        """True when a comment accepts the finding."""
        return finding.code in self.everywhere or finding.code in self.on_line.get(finding.line, ())


def _following_command(lines: list[str], number: int) -> list[int]:
    """Return the 1-based lines of the command behind the comment on line ``number``."""
    at = number
    while at < len(lines) and (not lines[at].strip() or _ONLY_COMMENT.match(lines[at])):
        at += 1
    concerned = []
    while at < len(lines):
        concerned.append(at + 1)
        if not lines[at].rstrip().endswith("\\"):
            break
        at += 1
    return concerned


class Accepted(msgspec.Struct, forbid_unknown_fields=True):
    """One entry; ``finding`` is for people, the fingerprint decides."""

    fingerprint: str
    reason: str
    finding: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    accepted: list[Accepted] = []


def read_baseline(path: Path) -> list[Accepted]:
    """Read the accepted findings.

    Raises:
        CannotError: the file can't be read.
        UsageError: it is malformed, or an entry has no reason.
    """
    import tomllib  # only where there is a baseline

    try:
        entries = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).accepted
    except OSError as error:
        raise CannotError(f"{path} can't be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}") from error
    for number, entry in enumerate(entries, 1):
        if not entry.reason.strip():
            named = entry.finding or entry.fingerprint
            raise UsageError(f"{path}: accepted[{number}] ({named}) has no reason", "say why it is accepted")
    return entries


def split_by_baseline(
    findings: Iterable[Finding], entries: Sequence[Accepted]
) -> tuple[list[Finding], list[Accepted]]:
    """Return the findings that are not accepted, and the entries that met none."""
    known = {entry.fingerprint for entry in entries}
    rest, met = [], set()
    for finding in findings:
        if finding.fingerprint in known:
            met.add(finding.fingerprint)
        else:
            rest.append(finding)
    return rest, [entry for entry in entries if entry.fingerprint not in met]


def write_baseline(path: Path, findings: Iterable[Finding], old: Sequence[Accepted]) -> int:
    """Write the findings as a baseline; reasons of entries that remain are kept, new ones are to be
    filled in. Return how many reasons are missing."""
    reasons = {entry.fingerprint: entry.reason for entry in old}
    blocks, missing = [_HEADER], 0
    for finding in findings:
        reason = reasons.get(finding.fingerprint, "")
        missing += not reason
        shown = f"{finding.file}: {finding.code}: {finding.message}"
        blocks.append(
            f'[[accepted]]\nfingerprint = "{finding.fingerprint}"\n'
            f"reason = {_toml(reason)}\nfinding = {_toml(shown)}\n"
        )
    write_atomically(path, "\n".join(blocks).encode())
    return missing


def _toml(text: str) -> str:
    return msgspec.json.encode(text).decode()
