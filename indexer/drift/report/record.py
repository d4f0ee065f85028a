"""What a reporter is given: findings, and what was and was not read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

START, MEANING, HINT = "START", "MEANING", "HINT"
LEVELS = (START, MEANING, HINT)
"""Worst first: the server would not start; it would run with other settings; good to know."""


class Finding(msgspec.Struct, kw_only=True):
    """One thing wrong (or worth knowing) at one place.

    ``line`` and ``column`` are 1-based, ``column`` counts characters; ``width`` is how many
    characters the flag takes there. ``flag`` is spelled as in the file. ``version`` is the SGLang
    version judged against, ``replacement`` what to write instead, ``at`` the place in SGLang's tree
    that says so (``path:line``). ``fingerprint`` holds no line number, so it survives edits above.
    ``source_line`` is the text of the line, for the snippet; it isn't part of the JSON form.
    """

    code: str
    level: str
    file: str
    line: int
    column: int
    message: str
    version: str
    flag: str | None = None
    replacement: str | None = None
    at: str | None = None
    fingerprint: str = ""
    width: int = 1
    source_line: str | None = None

    @property
    def described(self) -> str:
        """The finding in one line, without its line."""
        return f"{self.file}: {self.code}: {self.message}"


class RuleInfo(msgspec.Struct, frozen=True):
    """What a reporter may say about a code: a title, one sentence, and a documentation address."""

    code: str
    level: str
    title: str
    summary: str
    help_uri: str | None = None


class Unread(msgspec.Struct, frozen=True):
    """A file (or a part of one) that was not read, and why."""

    file: str
    reason: str


class Report(msgspec.Struct, kw_only=True):
    """Everything a run has to say. ``versions`` maps a file to the versions it was judged against
    and ``origins`` says where each came from (``--version``, ``image tag on line 4``); ``no_launch`` are the
    files asked for by name that hold no launch, ``failed`` what could not be read of such files (the command
    says so apart); ``launches`` is how many were judged."""

    findings: list[Finding] = []
    files: list[str] = []
    versions: dict[str, list[str]] = {}
    origins: dict[str, str] = {}
    unread: list[Unread] = []
    no_launch: list[str] = []
    failed: list[Unread] = []
    launches: int = 0
    rules: Mapping[str, RuleInfo] = {}
    suppressed: int = 0
    tool: str = "indexer check"

    def count(self, level: str) -> int:
        """Return how many findings have this level."""
        return sum(finding.level == level for finding in self.findings)


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in reading order, so that output never depends on how they were found."""
    return sorted(
        findings, key=lambda f: (f.file, f.line, f.column, f.code, f.flag or "", f.version, f.message)
    )


def with_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """Give each finding its fingerprint, in reading order.

    The same finding met again in a file (two launches, one mistake each) is told apart by its
    ordinal there, not by its line.
    """
    import hashlib  # loads OpenSSL: only where there is something to name

    seen: dict[tuple[str, ...], int] = {}
    ordered = sort_findings(findings)
    for finding in ordered:
        key = (finding.code, finding.file, finding.flag or "", finding.version)
        seen[key] = ordinal = seen.get(key, 0) + 1
        text = "\0".join((*key, str(ordinal)))
        finding.fingerprint = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return ordered
