"""``indexer build``: make the documentation site."""

from __future__ import annotations

import time
from pathlib import Path

import click

from indexer.errors import FINDINGS

DEFAULT_FOLDER = "_site"


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=DEFAULT_FOLDER,
    show_default=True,
    metavar="DIR",
)
@click.option(
    "--version", "only", multiple=True, metavar="V", help="A version (repeatable); default: the default pin."
)
@click.option("--all-pins", is_flag=True, help="Every pinned version; takes minutes.")
@click.option("--strict", is_flag=True, help="Exit 1 when a declaration was not recognised.")
@click.option("--verbose", is_flag=True, help="Also say how the call sites were resolved.")
@click.option("--processes", type=click.IntRange(1), help="Processes to use; default: one per core.")
def command(
    output: Path, only: tuple[str, ...], all_pins: bool, strict: bool, verbose: bool, processes: int | None
) -> None:
    """Build the documentation site of the pinned SGLang releases.

    Every citation is re-opened in the source; one that doesn't hold stops the build. The new site
    replaces the old one only when it is whole.
    """
    from indexer.knowledge.shares import told
    from indexer.progress import busy
    from indexer.publish.build import build_site
    from indexer.source.pins import load_pins

    pins = load_pins()
    versions = list(dict.fromkeys(only)) or ([*pins.versions] if all_pins else [pins.default])
    default = pins.default if pins.default in versions else versions[0]
    started = time.monotonic()
    unrecognised = 0
    with busy(f"Reading and publishing SGLang {', '.join(versions)}"):
        for built in build_site(versions, default, output, processes or 0):
            figures = built.figures
            unrecognised += figures.unrecognised
            click.echo(
                f"SGLang {built.version}: {built.pages} pages, {figures.citations} citations re-opened, "
                f"{figures.unrecognised} unrecognised, {figures.unknown} unknown values"
            )
            if verbose and figures.call_sites:
                click.echo(f"  {told(figures.call_sites)}")
    click.echo(f"{output} built in {time.monotonic() - started:.1f} s; `indexer serve` shows it")
    if strict and unrecognised:
        raise click.exceptions.Exit(FINDINGS)
