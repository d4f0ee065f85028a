"""``indexer drift``: what changed between two versions, by who is hurt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from indexer.drift.baseline import Accepted
    from indexer.drift.change import Change
    from indexer.drift.outcome import Outcome
    from indexer.drift.sides import Side
    from indexer.drift.usage import Mention
    from indexer.knowledge.history import History

_LEVELS = click.Choice(["START", "MEANING", "DOC"], case_sensitive=False)


@click.command("drift")
@click.argument("versions", nargs=-1, metavar="[OLD] [NEW]")
@click.option("--documented", is_flag=True, help="OLD is what the site documents: the default pin.")
@click.option(
    "--kind",
    "kinds",
    default="flags,algorithms,env",
    show_default=True,
    help="Compare only these; rules are the messages and overrides of the resolver.",
)
@click.option(
    "--used-in", type=click.Path(path_type=Path), multiple=True, help="Tell only what files here use."
)
@click.option(
    "--checkout", type=click.Path(path_type=Path), help="OLD and NEW are revisions of this repository."
)
@click.option(
    "--level", type=_LEVELS, default="MEANING", show_default=True, help="Show this level and worse."
)
@click.option(
    "--fail-on",
    type=click.Choice(["START", "MEANING", "DOC", "never"], case_sensitive=False),
    default="MEANING",
    show_default=True,
    help="Exit with 1 at this level or worse.",
)
@click.option("--no-abbreviations", is_flag=True, help="Leave out what happened to shortened flags.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Accepted changes, each with its reason.")
@click.option(
    "--write-baseline", type=click.Path(path_type=Path), help="Write the changes shown as a baseline."
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "markdown", "sarif", "github", "junit"]),
    default="text",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--history", "history_file", type=click.Path(path_type=Path), help="Another history file.")
def command(
    versions: tuple[str, ...],
    documented: bool,
    kinds: str,
    used_in: tuple[Path, ...],
    checkout: Path | None,
    level: str,
    fail_on: str,
    no_abbreviations: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    format_name: str,
    as_json: bool,
    history_file: Path | None,
) -> None:
    """Compare two versions of SGLang: releases, revisions of a --checkout, or snapshot files.

    START: a command that started no longer does. MEANING: the same command means something else.
    DOC: new things, help texts, lines. With --documented, NEW left out is the newest release.

    Exit codes: 0 nothing at the --fail-on level, 1 something, 2 usage, 3 could not compare.
    """
    from indexer.cli._terminal import fit
    from indexer.drift import outcome as outcomes
    from indexer.drift.compare import compare
    from indexer.drift.sides import renames_of

    wanted = _kinds(kinds)
    history = _history(history_file)
    old, new = _sides(versions, documented, checkout, history)
    changes = compare(old.facts, new.facts, renames_of(old, new, history), wanted)
    if "rules" in wanted:
        from indexer.drift.compare import in_order
        from indexer.drift.rules import rule_changes

        changes = in_order([*changes, *rule_changes(old.known_rules(), new.known_rules())])
    if no_abbreviations:
        changes = [change for change in changes if not change.code.startswith("abbreviation-")]
    outcome = _outcome(old, new, changes, used_in, baseline)
    failing = bool(outcome.stale) or any(_at_least(fail_on, change.level) for change in outcome.changes)
    outcome.changes = [change for change in outcome.changes if _at_least(level, change.level)]
    if write_baseline:
        from indexer.drift.baseline import read_baseline
        from indexer.drift.baseline import write_baseline as write

        old_entries = read_baseline(write_baseline) if write_baseline.exists() else []
        write(write_baseline, outcome.changes, old_entries, "drift")
        click.echo(
            f"{len(outcome.changes)} changes written to {write_baseline}; fill in the reasons", err=True
        )
        return
    format_name = "json" if as_json else format_name
    told = outcomes.render(outcome, format_name)
    click.echo(fit(told) if format_name == "text" else told, nl=False)
    sys.exit(1 if failing else 0)


def _at_least(asked: str, level: str) -> bool:
    """Tell whether ``level`` is as bad as ``asked``, or worse."""
    from indexer.drift.change import LEVELS

    return asked in LEVELS and LEVELS.index(level) <= LEVELS.index(asked)


def _kinds(text: str) -> list[str]:
    from indexer.drift.change import KINDS
    from indexer.errors import UsageError

    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"--kind {','.join(unknown)} is not known", f"use {', '.join(KINDS)}")
    return kinds


def _history(path: Path | None) -> History | None:
    from indexer.knowledge.history import SHIPPED, load_history

    return load_history(path) if path or SHIPPED.is_file() else None


def _sides(
    versions: tuple[str, ...], documented: bool, checkout: Path | None, history: History | None
) -> tuple[Side, Side]:
    from indexer.drift.sides import open_side
    from indexer.errors import UsageError

    if documented:
        from indexer.snapshots import default_version

        if len(versions) > 1:
            raise UsageError("--documented takes one version, NEW", "leave OLD out")
        return (
            open_side(default_version(), history),
            open_side(versions[0] if versions else _newest(checkout), history, checkout),
        )
    if len(versions) != 2:
        raise UsageError("two versions are needed", "indexer drift OLD NEW, for example 0.5.17 0.5.23")
    return open_side(versions[0], history, checkout), open_side(versions[1], history, checkout)


def _newest(checkout: Path | None) -> str:
    """Return what a documented version is compared with by default."""
    if checkout is not None:
        return "HEAD"
    from indexer.source.pip import released_versions

    return released_versions("sglang")[-1]


def _outcome(
    old: Side, new: Side, changes: list[Change], used_in: tuple[Path, ...], baseline: Path | None
) -> Outcome:
    from indexer.drift.change import LEVELS
    from indexer.drift.outcome import Outcome
    from indexer.drift.sides import is_older

    notes = []
    if is_older(new.facts.version, old.facts.version):
        notes.append(f"{new.name} is older than {old.name}: this is what going back changes")
    mentions: dict[str, list[Mention]] = {}
    if used_in:
        from indexer.drift.usage import read_usage

        usage = read_usage(used_in)
        mentions = {change.fingerprint: places for change in changes if (places := usage.of(change))}
        changes = [change for change in changes if change.fingerprint in mentions]
    total = len(changes)
    stale: list[Accepted] = []
    if baseline:
        from indexer.drift.baseline import read_baseline, split_by_baseline

        changes, stale = split_by_baseline(changes, read_baseline(baseline))
    return Outcome(
        old=old.name,
        new=new.name,
        changes=changes,
        counts={level: sum(change.level == level for change in changes) for level in LEVELS},
        notes=notes,
        mentions=mentions,
        stale=stale,
        accepted=total - len(changes),
    )
