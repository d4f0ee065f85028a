"""``indexer search``: find facts by name, words, or a mistyped spelling of them."""

from __future__ import annotations

import click

from indexer.knowledge.addresses import KINDS


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--version", "version", metavar="V", help="SGLang version; default: the default pin.")
@click.option("--kind", type=click.Choice(KINDS), help="Only facts of this kind.")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Most hits to print."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(query: tuple[str, ...], version: str | None, kind: str | None, limit: int, as_json: bool) -> None:
    """Search the facts of a SGLang version.

    Any spelling of a name finds it: --speculative-num-steps, speculative_num_steps, "num steps",
    SpeculativeNumSteps, cut short, or with a letter wrong.
    """
    from indexer.search.open import build_index, cached_index
    from indexer.snapshots import default_version, get_snapshot

    version = version or default_version()
    text = " ".join(query)
    index = cached_index(version) or build_index(get_snapshot(version))
    hits = index.search(text, kind, limit)
    if as_json:
        import msgspec

        answer = {
            "query": text,
            "version": version,
            "mended": index.mended(text),
            "hits": [hit.record() for hit in hits],
        }
        click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())
        return
    if not hits:
        click.echo(f"nothing in SGLang {version} matches {text!r}")
        return
    for typed, meant in index.mended(text).items():
        click.echo(click.style(f"{typed!r} taken as {meant!r}", dim=True))
    for hit in hits:
        found = hit.document
        title = " ".join(found.title.split())
        title = title if len(title) <= 66 else title[:65] + "…"
        click.echo(f"{found.kind:<10} " + click.style(title, bold=True))
        click.echo(" " * 11 + click.style(f"{found.path}:{found.line}", fg="cyan"))
