"""``indexer check``: lint launch files against a version of SGLang."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from indexer.drift.lint.facts import Timeline
    from indexer.drift.lint.settings import Settings
    from indexer.drift.session import Outcome

_LEVEL_NAMES = ["START", "MEANING", "HINT"]
_STDIN = Path("-")


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE|FOLDER|-]...")
@click.option("--version", "version", help="Judge against this version, whatever the files say.")
@click.option(
    "--versions",
    "versions",
    metavar="A..B",
    help="Judge against every release from A to B (A..: to the newest).",
)
@click.option("--upgrade", metavar="OLD..NEW", help="Tell only what going from OLD to NEW breaks or changes.")
@click.option("--docs", is_flag=True, help="The paths are documentation, not launches.")
@click.option("--stdin-kind", help="Standard input (-) is of this kind (shell, yaml, ...), not guessed.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "sarif", "github", "junit", "markdown"]),
    default="text",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice([*_LEVEL_NAMES, "never"], case_sensitive=False),
    help="Exit with 1 at this level or worse (default MEANING).",
)
@click.option(
    "--fail-on-unread",
    is_flag=True,
    help="Exit with 3 when anything could not be read, not only a named file.",
)
@click.option(
    "--resolve/--no-resolve",
    default=None,
    help="Also run SGLang's own resolver on unusual speculative numbers, which takes seconds a launch and "
    "needs the release; or tell no conflicts at all.  [default: only the conflicts that ship as facts]",
)
@click.option("--fix", is_flag=True, help="Rewrite what is certain, in place.")
@click.option("--diff", is_flag=True, help="Show what --fix would write, and write nothing.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Accepted findings, each with its reason.")
@click.option("--write-baseline", is_flag=True, help="Write the findings to --baseline.")
@click.option(
    "--config", type=click.Path(path_type=Path, exists=True), help="indexer.toml or pyproject.toml."
)
@click.option("--history", "history_file", type=click.Path(path_type=Path), help="Another history file.")
@click.option("--about", "about_code", metavar="CODE", help="Tell what a code means and stop.")
def command(
    paths: tuple[Path, ...],
    version: str | None,
    versions: str | None,
    upgrade: str | None,
    docs: bool,
    stdin_kind: str | None,
    format_name: str,
    as_json: bool,
    fail_on: str | None,
    fail_on_unread: bool,
    resolve: bool | None,
    fix: bool,
    diff: bool,
    baseline: Path | None,
    write_baseline: bool,
    config: Path | None,
    history_file: Path | None,
    about_code: str | None,
) -> None:
    """Lint shell scripts, Compose and Kubernetes files, Dockerfiles, Python, notebooks, Markdown and more.

    Without --version each launch is judged against the version its file names (image tag, pinned
    requirement), else the newest covered one. START: the server would not start. MEANING: it would
    run with other settings. HINT: good to know.

    Exit codes: 0 clean, 1 findings at the --fail-on level, 2 usage, 3 a file that was named is missing or
    could not be read to its end (the others are checked all the same), or nothing could be done.
    """
    if about_code:
        click.echo(_explained(about_code))
        return
    from indexer.drift.session import Request, run_check

    _refuse_unknown_kind(stdin_kind)
    _refuse_two_ranges(version or versions, upgrade)
    settings, folder = _settings(config)
    timeline = _timeline(history_file)
    request = Request(
        paths=[path for path in paths if path != _STDIN],
        stdin=(sys.stdin.buffer.read(), stdin_kind) if stdin_kind or _STDIN in paths else None,
        versions=_versions(version, versions, settings, timeline),
        upgrade=_upgrade(upgrade, timeline) if upgrade else None,
        docs=docs,
        ignore=settings.ignore,
        exclude=settings.exclude,
        baseline=baseline or (folder / settings.baseline if settings.baseline else None),
        write_baseline=write_baseline,
        resolve=settings.resolve if resolve is None else resolve,
        fix=fix,
        diff=diff,
    )
    outcome = run_check(request, timeline)
    wanted = "json" if as_json else format_name
    if not diff:
        from indexer.cli._terminal import fit
        from indexer.drift.report import render

        told = render(outcome.report, wanted)
        click.echo(fit(told) if wanted == "text" else told, nl=False)
    if outcome.diff and (diff or wanted == "text"):
        click.echo(outcome.diff, nl=False)
    for line in outcome.notes:
        click.echo(f"indexer: {line}", err=True)
    sys.exit(_exit_code(outcome, fail_on or settings.fail_on or "MEANING", fail_on_unread))


def _refuse_two_ranges(version: str | None, upgrade: str | None) -> None:
    from indexer.errors import UsageError

    if version and upgrade:
        raise UsageError(
            f"--upgrade {upgrade} names its versions, so --version and --versions say nothing beside it",
            "give one of them",
        )


def _refuse_unknown_kind(kind: str | None) -> None:
    from indexer.drift.launch.read import KINDS
    from indexer.errors import UsageError

    if kind is not None and kind not in KINDS:
        raise UsageError(f"--stdin-kind {kind} is not known", f"use {', '.join(KINDS)}")


def _exit_code(outcome: Outcome, fail_on: str, fail_on_unread: bool) -> int:
    from indexer.errors import CANNOT, CLEAN, FINDINGS

    report = outcome.report
    if report.failed or (fail_on_unread and report.unread):
        return CANNOT
    failing = [] if fail_on == "never" else _LEVEL_NAMES[: _LEVEL_NAMES.index(fail_on.upper()) + 1]
    found = any(report.count(level) for level in failing)
    return FINDINGS if found or outcome.stale else CLEAN


def _settings(config: Path | None) -> tuple[Settings, Path]:
    from indexer.drift.lint.settings import find_settings, load_settings

    if config is not None:
        return load_settings(config), config.parent
    settings, path = find_settings(Path.cwd())
    return settings, path.parent if path else Path()


def _timeline(history_file: Path | None) -> Timeline:
    from indexer.drift.lint.facts import Timeline
    from indexer.drift.lint.history_facts import HistoryFacts
    from indexer.knowledge.history import load_history

    return Timeline(HistoryFacts(load_history(history_file)))


def _versions(version: str | None, versions: str | None, settings: Settings, timeline: Timeline) -> list[str]:
    from indexer.errors import UsageError
    from indexer.knowledge.spans import covered, versions_between

    if version and versions:
        raise UsageError("--version and --versions exclude each other", "give one of them")
    if not version and not versions:
        version, versions = settings.version, settings.versions
    if version:
        return [covered(version, timeline.versions)]
    return versions_between(versions, timeline.versions) if versions else []


def _upgrade(span: str, timeline: Timeline) -> tuple[str, str]:
    """Return the two releases of an upgrade, of which both must be covered themselves."""
    from indexer.errors import UsageError
    from indexer.knowledge.spans import covered, versions_between

    old, _, new = span.partition("..")
    versions_between(span, timeline.versions, "--upgrade")
    if not old:
        raise UsageError(f"--upgrade {span}: from which release?", "write OLD..NEW, or OLD.. for the newest")
    return covered(old, timeline.versions), covered(new or "latest", timeline.versions)


def _explained(code: str) -> str:
    from indexer.drift.lint.lints import CODES, LINTS
    from indexer.errors import UsageError

    if code not in LINTS:
        raise UsageError(f"no code {code!r}", f"one of {', '.join(CODES)}")
    lint = LINTS[code]
    return (
        f"{lint.code} ({lint.level}): {lint.title}\n\n{lint.what}\n{lint.why}\n\n"
        f"Example ({lint.example_version}): {lint.example}\nInstead: {lint.instead}"
    )
