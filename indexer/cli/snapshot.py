"""``indexer snapshot``: the facts of one SGLang version, as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command("snapshot")
@click.argument("version", required=False)
@click.option(
    "--checkout", type=click.Path(path_type=Path), help="A SGLang git checkout instead of a release."
)
@click.option("--rev", help="A tag, branch or commit of the checkout or clone (default: HEAD).")
@click.option("--clone", help="Address of a SGLang repository to fetch --rev from.")
@click.option("--folder", type=click.Path(path_type=Path), help="A plain SGLang source folder.")
@click.option("--installed", is_flag=True, help="The SGLang installed in this Python.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to FILE instead of stdout.")
@click.option("--strict", is_flag=True, help="Exit 1 if a declaration was not recognised.")
@click.option("--fresh", is_flag=True, help="Extract again, also where the cache has it.")
@click.option(
    "--part",
    type=click.Choice(["all", "facts", "flags"]),
    default="all",
    show_default=True,
    help="facts: all but the code paths; flags: only flags and the names of algorithms. Much sooner done.",
)
def command(
    version: str | None,
    checkout: Path | None,
    rev: str | None,
    clone: str | None,
    folder: Path | None,
    installed: bool,
    output: Path | None,
    strict: bool,
    fresh: bool,
    part: str,
) -> None:
    """Extract the facts of VERSION (default: the default pin) as JSON.

    The same tree always gives the same bytes. What a part leaves out is named under "left_out".
    """
    from indexer.errors import FINDINGS, UsageError
    from indexer.knowledge.store import encode_snapshot, save_snapshot
    from indexer.progress import busy
    from indexer.snapshots import flags_of, get_snapshot, snapshot_of
    from indexer.source import open_source

    if output is None and sys.stdout.isatty():
        raise UsageError("a snapshot is megabytes of JSON, nothing for a terminal", "-o FILE, or a pipe")
    release = not (checkout or clone or folder or installed or rev)
    with busy(f"reading SGLang {version or ''}".rstrip()):
        if release and not fresh and part != "flags":
            snapshot = get_snapshot(version, code_paths=part == "all")
        else:
            tree = open_source(
                version, checkout=checkout, rev=rev, clone=clone, folder=folder, installed=installed
            )
            snapshot = flags_of(tree) if part == "flags" else snapshot_of(tree, part == "all")
    if output is not None:
        save_snapshot(snapshot, output)
        counts = snapshot.coverage.counts.get("flags", {})
        click.echo(
            f"{output}: SGLang {snapshot.source.version}, {counts.get('recognised', 0)} flags, "
            f"{len(snapshot.coverage.unrecognised)} declarations not recognised, "
            f"{len(snapshot.coverage.unknown)} values unknown",
            err=True,
        )
    else:
        sys.stdout.buffer.write(encode_snapshot(snapshot))
    if strict and snapshot.coverage.unrecognised:
        for one in snapshot.coverage.unrecognised:
            click.echo(f"{one.at.path}:{one.at.line}: {one.kind} not recognised: {one.text}", err=True)
        raise SystemExit(FINDINGS)
