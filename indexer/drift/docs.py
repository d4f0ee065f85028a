"""``--docs``: documentation against a version's options.

Launches in code blocks are linted as everywhere; beside them, options named in prose and tables
(``ghost-flag``), defaults in tables (``wrong-default``), and, over all files, options that nobody
names (``undocumented-flag``). In Python sources only messages and help texts are prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexer.drift.check import Checker, FileResult, Places
from indexer.drift.lint.classify import classify
from indexer.drift.lint.facts import OptionFact, Timeline, show
from indexer.drift.lint.raw import Raw
from indexer.drift.report.record import HINT, MEANING, Finding

_NAMED = re.compile(r"(?<![\w/.-])--[a-zA-Z][\w-]*[a-zA-Z0-9]")
_IN_CODE = re.compile(r"`[^`\n]+`|<code>[^<\n]+</code>")
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?^\1?[ \t]*\2[^\n]*$", re.MULTILINE | re.DOTALL)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_HISTORICAL = re.compile(
    r"deprecat|removed|renamed|replaced|no longer|formerly|legacy|since|before|until|alias|old ",
    re.IGNORECASE,
)
_FAMILY = 2
"""How many options with the same beginning make a group."""
_VERBS = frozenset(["no", "enable", "disable", "use", "max", "min", "force", "skip", "enforce"])
"""First words that make no group."""
_DECLARED = re.compile(r"add_argument\(\s*[\"'](--[\w-]+)[\"']")
_MESSAGE = re.compile(r"[\"'](?:[^\"'\n\\]|\\.){12,}[\"']")


class DocsChecker(Checker):
    """Checks documentation; remembers over all files which options were named."""

    keeps_texts = True

    def __init__(self, timeline: Timeline, versions: Sequence[str], default: str) -> None:
        super().__init__(timeline, versions or [default], default)
        self.version = self.asked[-1]
        self.origin = "as asked" if versions else "newest covered"

    def check_text(self, text: str, kind: str, name: str, path: Path | None = None) -> FileResult:
        """Check one page (or one source file's messages)."""
        result = (
            super().check_text(text, kind, name) if kind != "python" else FileResult(file=name, text=text)
        )
        result.text = text
        result.versions = [self.version]
        result.origin = self.origin
        places = Places(text)
        found = self.messages(text) if kind == "python" else [*self.prose(text), *self.defaults(text)]
        told = {(f.line, f.column) for f in result.findings}
        for raw in found:
            finding = places.finding(raw, name, self.version)
            if (finding.line, finding.column) not in told:
                result.findings.append(finding)
        return result

    def prose(self, text: str) -> Iterator[Raw]:
        """Yield options in backticks that the version lacks, though another version has them."""
        fenced = [(match.start(), match.end()) for match in _FENCE.finditer(text)]
        for code in _IN_CODE.finditer(text):
            if any(begin <= code.start() < end for begin, end in fenced):
                continue
            line = text[text.rfind("\n", 0, code.start()) + 1 : _line_end(text, code.end())]
            if not _HISTORICAL.search(line):
                yield from self.named(code.group(), code.start())

    def messages(self, text: str) -> Iterator[Raw]:
        """Yield options that string literals of a source file name, but the version doesn't have; a
        file that declares an option itself speaks of its own."""
        declared = frozenset(match[1] for match in _DECLARED.finditer(text))
        for literal in _MESSAGE.finditer(text):
            if not _HISTORICAL.search(literal.group()) and " " in literal.group():
                yield from self.named(literal.group(), literal.start(), declared)

    def named(self, piece: str, offset: int, declared: frozenset[str] = frozenset()) -> Iterator[Raw]:
        table = self.timeline.table(self.version)
        for match in _NAMED.finditer(piece):
            option = match.group()
            if table.matches(option) or option in declared or option in self.timeline.foreign:
                continue
            if option not in self.timeline.spellings and not self.in_family(option):
                continue
            verdict = classify(option, [], self.version, self.timeline)
            start = offset + match.start()
            yield Raw(
                "ghost-flag",
                MEANING,
                verdict.message,
                start,
                start + len(option),
                flag=option,
                replacement=verdict.replacement,
                at=verdict.at,
            )

    def in_family(self, option: str) -> bool:
        """Whether an option that no version has is named like a group of options that this one has.

        Other programs' options, of which documentation is full, aren't.
        """
        segments = option.split("-")[2:]
        if len(segments) < 3:
            return False
        lengths = range(1 if segments[0] not in _VERBS else 2, len(segments))
        stems = ("--" + "-".join(segments[:length]) + "-" for length in lengths)
        table = self.timeline.table(self.version)
        return any(len(table.matches(stem)) >= _FAMILY for stem in stems)

    def defaults(self, text: str) -> Iterator[Raw]:
        """Yield table cells whose default isn't the parser's."""
        table = self.timeline.table(self.version)
        column: int | None = None
        for row in _TABLE_ROW.finditer(text):
            cells = _cells(row.group(1), row.start(1))
            if all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell, _ in cells):
                continue
            heads = [re.sub(r"[*`\s]", "", cell).lower() for cell, _ in cells]
            if any(head in ("default", "defaults", "defaultvalue") for head in heads):
                column = next(i for i, head in enumerate(heads) if head.startswith("default"))
                continue
            option = _NAMED.search(cells[0][0])
            flag = table.by_option.get(option.group()) if option else None
            if flag is None or column is None or column >= len(cells):
                continue
            cell, at = cells[column]
            if _says_other_default(cell, flag):
                written = cell.strip()
                start = at + cell.index(written[:1])
                yield Raw(
                    "wrong-default",
                    MEANING,
                    f"{flag.option_strings[0]} is {flag.default!r} by default in SGLang {self.version}, "
                    f"not {written.strip('`')}",
                    start,
                    start + len(written),
                    flag=flag.option_strings[0],
                    replacement=str(flag.default),
                    at=show(flag.declared_at),
                )


def undocumented(timeline: Timeline, version: str, texts: Sequence[str], place: str) -> list[Finding]:
    """Return the options of ``version`` that none of the texts names under any spelling."""
    named = {option for text in texts for option in re.findall(r"--[a-z][\w-]*", text)}
    seen: set[int] = set()
    found = []
    for option, flag in timeline.table(version).by_option.items():
        if id(flag) in seen or flag.dest == "help" or flag.deprecated is not None or _is_hidden(flag):
            continue
        seen.add(id(flag))
        if not named & set(flag.option_strings):
            found.append(
                Finding(
                    code="undocumented-flag",
                    level=HINT,
                    file=place,
                    line=1,
                    column=1,
                    message=f"no page names {option}",
                    version=version,
                    flag=option,
                    at=show(flag.declared_at),
                )
            )
    return found


def _is_hidden(flag: OptionFact) -> bool:
    return bool(getattr(flag, "hidden", False) or getattr(flag, "help_suppressed", False))


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end if end >= 0 else len(text)


def _cells(row: str, offset: int) -> list[tuple[str, int]]:
    cells, position = [], 0
    for cell in re.split(r"(?<!\\)\|", row):
        cells.append((cell, offset + position))
        position += len(cell) + 1
    return cells


def _says_other_default(cell: str, flag: OptionFact) -> bool:
    """True only for a plain literal that differs; prose such as “auto-detected” claims nothing."""
    written = cell.strip().strip("`\"'* ").strip()
    default = flag.default
    if not written or (isinstance(default, dict | list) or default is None):
        return False
    if getattr(flag, "machine_dependent", None) or default == "==SUPPRESS==":
        return False
    if isinstance(default, bool):
        return written.lower() in ("true", "false") and written.lower() != str(default).lower()
    if isinstance(default, int | float):
        try:
            return float(written.replace("_", "").replace(",", "")) != float(default)
        except ValueError:
            return False
    return (
        bool(re.fullmatch(r"[\w.:/-]+", written)) and written.lower() != default.lower() and written != "None"
    )
