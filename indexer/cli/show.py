"""``indexer show``: one fact, for a reader or as JSON."""

from __future__ import annotations

import click

from indexer.knowledge.addresses import KINDS


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--version", "version", metavar="V", help="SGLang version; default: the default pin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--full", "--all", "everything", is_flag=True, help="Don't cut anything.")
def command(kind: str, name: str, version: str | None, as_json: bool, everything: bool) -> None:
    """Show one fact of a SGLang version, each part with its file and line.

    NAME is an option string or dest (--tp-size, tp_size), an algorithm or its alias, an architecture,
    a rule id, a code path or an environment variable. Names that are shared show every match.
    """
    from indexer.knowledge.links import Links
    from indexer.knowledge.lookup import find_facts
    from indexer.snapshots import get_snapshot

    snapshot = get_snapshot(version, code_paths=kind == "path")
    found = find_facts(snapshot, kind, name)
    if as_json:
        import msgspec

        from indexer.knowledge.records import fact_record

        records = [fact_record(snapshot.source.version, kind, fact) for fact in found]
        answer = records[0] if len(records) == 1 else records
        click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())
        return
    from indexer.cli._facts import print_fact

    links = Links(snapshot)
    for number, fact in enumerate(found):
        if number:
            click.echo()
        print_fact(kind, fact, links, fold=not everything)
