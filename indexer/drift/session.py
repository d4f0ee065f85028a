"""One run of ``indexer check``: files in, report, fixes and notes out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.drift.check import Checker, Extra, FileResult
from indexer.drift.files import PARALLEL_FROM, check_files, find_files
from indexer.drift.launch.model import FileLaunches, Launch
from indexer.drift.launch.read import Unreadable, decode, guess_kind
from indexer.drift.lint import fix as fixes
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.lints import rule_infos
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.suppress import Comments
from indexer.drift.report.record import Finding, Report, Unread, with_fingerprints
from indexer.errors import UsageError
from indexer.progress import count, track

if TYPE_CHECKING:
    from indexer.knowledge.rehearsal import Rehearsals

STDIN = "<stdin>"


@dataclass(slots=True)
class Request:
    """What was asked. ``stdin``: what was read there, and its kind, None: guessed. ``versions`` empty: each
    file's own version. ``resolve`` None: conflicts from shipped facts; True: ask the resolver too; False: no
    conflicts at all."""

    paths: list[Path]
    versions: list[str] = field(default_factory=list)
    stdin: tuple[bytes, str | None] | None = None
    upgrade: tuple[str, str] | None = None
    docs: bool = False
    ignore: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    baseline: Path | None = None
    write_baseline: bool = False
    resolve: bool | None = None
    fix: bool = False
    diff: bool = False


@dataclass(slots=True)
class Outcome:
    """What came of it. ``stale`` is True when a baseline entry met no finding."""

    report: Report
    notes: list[str] = field(default_factory=list)
    diff: str = ""
    stale: bool = False
    told: dict[tuple[object, ...], str] = field(default_factory=dict)

    def is_new(self, finding: Finding, by: str) -> bool:
        """Whether no other file told a finding: one in a ``--config`` file is met with each launch too."""
        key = (finding.file, finding.line, finding.column, finding.code, finding.flag, finding.version)
        return self.told.setdefault(key, by) == by


def run_check(request: Request, timeline: Timeline) -> Outcome:
    """Check everything that was asked.

    Raises:
        UsageError: nothing to check, none of the paths is there, a bad baseline.
    """
    if not request.paths and request.stdin is None:
        raise UsageError("nothing to check", "name files or folders")
    if request.write_baseline and request.baseline is None:
        raise UsageError("--write-baseline has no file to write", "name it: --baseline FILE")
    if request.docs and request.upgrade is not None:
        raise UsageError(
            "--docs and --upgrade exclude each other", "check documentation against one --version"
        )
    if request.stdin is not None and request.fix and not request.diff:
        raise UsageError("--fix has no file to write to", "--diff shows what it would write")
    if request.stdin is None and not any(map(os.path.lexists, request.paths)):
        raise UsageError(f"there is no file or folder {request.paths[0]}", "check the spelling")
    files = list(count(find_files(request.paths, request.exclude), "looking for files"))
    paths = {name: path for path, name in files}
    outcome = Outcome(Report(rules=rule_infos()))
    report, texts = outcome.report, []
    results = _results(request, timeline, files)
    named = _named(request)
    for result in _told(results, len(files)):
        _take(result, request, outcome, paths.get(result.file))
        if result.file in named:
            report.failed += result.failed
            outcome.notes += [f"can't read {one.file}: {one.reason}" for one in result.failed]
        if request.docs:
            texts.append(result.text or "")
    if request.docs and request.paths and any(path.is_dir() for path in request.paths):
        from indexer.drift.docs import undocumented

        version = request.versions[-1] if request.versions else timeline.versions[-1]
        report.findings += undocumented(timeline, version, texts, request.paths[0].as_posix())
    if not request.docs:
        _note_no_launch(request, outcome)
    report.findings = with_fingerprints(report.findings)
    if request.baseline is not None:
        _apply_baseline(request, request.baseline, outcome)
    return outcome


def _told(results: Iterable[FileResult], files: int) -> Iterable[FileResult]:
    return track(results, f"checking {files:,} files", files) if files >= PARALLEL_FROM else results


_MOST_NAMED = 5


def _named(request: Request) -> set[str]:
    """Return what was asked for by its own name."""
    return {path.as_posix() for path in request.paths if not path.is_dir()} | {STDIN}


def _note_no_launch(request: Request, outcome: Outcome) -> None:
    """Say which of the named files hold no launch, or that none of all does: they would read as clean."""
    report, files = outcome.report, outcome.report.files
    named = _named(request)
    report.no_launch = [file for file in report.no_launch if file in named or len(files) == 1]
    shown, more = report.no_launch[:_MOST_NAMED], len(report.no_launch) - _MOST_NAMED
    if not report.versions and len(files) > max(len(shown), 1):
        outcome.notes.append(f"no SGLang launch found in {len(files):,} files")
    elif shown:
        rest = f" and {more} more" if more > 0 else ""
        outcome.notes.append(f"no SGLang launch found in {', '.join(shown)}{rest}")


def _results(request: Request, timeline: Timeline, files: list[tuple[Path, str]]) -> Iterable[FileResult]:
    checker = _checker(request, timeline)
    checker.beside = [path for path, _ in files]
    if request.stdin is not None:
        raw, kind = request.stdin
        try:
            text = decode(raw)
            yield checker.check_text(text, kind or guess_kind(text), STDIN)
        except Unreadable as error:
            yield FileResult.of_unread(STDIN, str(error))
    yield from check_files(checker, files)


def _checker(request: Request, timeline: Timeline) -> Checker:
    newest = timeline.versions[-1]
    if request.docs:
        from indexer.drift.docs import DocsChecker

        return DocsChecker(timeline, request.versions, newest)
    from indexer.drift.lint.algorithms import UnknownAlgorithm

    shipped = _ShippedConflicts(timeline)
    extras = _extras(request, timeline, shipped)
    always = [UnknownAlgorithm(timeline, shipped.load)] if request.resolve is not False else []
    if request.upgrade is not None:
        from indexer.drift.upgrade import UpgradeChecker

        return UpgradeChecker(timeline, request.upgrade, extras, always)
    return Checker(timeline, request.versions, newest, extras, always)


class _ShippedConflicts:
    """``CertainConflicts`` that reads its facts when the first launch is worth it."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._conflicts: Extra | None = None
        self._rehearsals: Rehearsals | None = None

    def load(self) -> Rehearsals:
        """Return the shipped facts."""
        if self._rehearsals is None:
            from indexer.knowledge.rehearsal import load_rehearsals

            self._rehearsals = load_rehearsals()
        return self._rehearsals

    def __call__(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        if not launch.words:
            return []
        if self._conflicts is None:
            from indexer.drift.lint.certain import CertainConflicts

            self._conflicts = CertainConflicts(self._timeline, self.load())
        return self._conflicts(launch, found, version)


def _extras(request: Request, timeline: Timeline, shipped: Extra) -> list[Extra]:
    """Return who is asked for conflicts of a launch: the shipped steps, and on demand the resolver."""
    extras: list[Extra] = []
    if request.resolve is not False:
        from indexer.drift.lint.json_texts import JsonTexts

        extras += [JsonTexts(timeline), shipped]
    if request.resolve:
        from indexer.drift.lint.resolver import CachedConflicts

        extras.append(CachedConflicts(timeline))
    return extras


def _take(result: FileResult, request: Request, outcome: Outcome, path: Path | None) -> None:
    report = outcome.report
    report.files.append(result.file)
    report.launches += result.launches
    report.unread += result.unread
    if result.versions:
        report.versions[result.file] = result.versions
        report.origins[result.file] = result.origin
    elif not result.unread:
        report.no_launch.append(result.file)
    kept = [one for one in _accept(result, request, report) if outcome.is_new(one, result.file)]
    report.findings += kept
    if (request.fix or request.diff or request.upgrade) and result.edits and result.text is not None:
        _rewrite(result, kept, request, outcome, path)


def _accept(result: FileResult, request: Request, report: Report) -> list[Finding]:
    comments = Comments(result.text or "")
    report.unread += [Unread(result.file, problem) for problem in comments.problems]
    wanted = [f for f in result.findings if f.code not in request.ignore]
    kept = [f for f in wanted if f.file != result.file or not comments.accepts(f)]
    report.suppressed += len(result.findings) - len(kept)
    return kept


def _rewrite(
    result: FileResult, kept: list[Finding], request: Request, outcome: Outcome, path: Path | None
) -> None:
    assert result.text is not None
    from indexer.drift.check import Places

    places = Places(result.text)
    wanted = {(finding.line, finding.column) for finding in kept}
    edits = [edit for edit in result.edits if places.position(edit[0]) in wanted]
    new, made = fixes.apply(result.text, edits)
    if not made:
        return
    if request.diff or not request.fix:
        outcome.diff += fixes.diff(result.file, result.text, new)
    elif path is not None:
        fixes.write(path, new)
        outcome.notes.append(f"{result.file}: {made} rewritten")


def _apply_baseline(request: Request, path: Path, outcome: Outcome) -> None:
    from indexer.drift.baseline import read_baseline, split_by_baseline, write_baseline

    # A first one may be written; one that is only read and isn't there is a mistyped name.
    old = read_baseline(path) if path.exists() or not request.write_baseline else []
    report = outcome.report
    if request.write_baseline:
        missing = write_baseline(path, report.findings, old, "check")
        outcome.notes.append(f"{len(report.findings)} findings written to {path}; {missing} need a reason")
        return
    rest, stale = split_by_baseline(report.findings, old)
    report.suppressed += len(report.findings) - len(rest)
    report.findings = rest
    outcome.stale = bool(stale)
    outcome.notes += [
        f"{path}: accepted finding is gone, remove it: {entry.what or entry.fingerprint}" for entry in stale
    ]
