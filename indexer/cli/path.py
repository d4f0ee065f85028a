"""``indexer path``: the calls that lead from one function to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli._terminal import fit

if TYPE_CHECKING:
    from indexer.source.tree import SourceTree
    from indexer.syntax.callgraph.survey import Survey

_MOST_ENTRIES = 5


@click.command()
@click.argument("start", metavar="FROM")
@click.argument("end", metavar="TO")
@click.option("--version", "version", metavar="V", help="SGLang version; default: the default pin.")
@click.option(
    "--checkout", type=click.Path(file_okay=False, path_type=Path), help="Read a git checkout instead."
)
@click.option("--rev", help="A revision of the checkout.")
@click.option("--installed", is_flag=True, help="Read the installed SGLang instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    start: str,
    end: str,
    version: str | None,
    checkout: Path | None,
    rev: str | None,
    installed: bool,
    as_json: bool,
) -> None:
    """Show the shortest chain of calls from FROM to TO.

    Names are Class.method, function or either with a shell pattern (``*.forward_extend``). The chain is
    one that the source allows; which branch runs may depend on the launch. Exit code 1: none was found.
    """
    from indexer.errors import FINDINGS, UsageError
    from indexer.source import open_source
    from indexer.source.cache import cache_folder
    from indexer.syntax.callgraph.survey import chains, survey
    from indexer.syntax.factstore import FactStore

    if not (start.strip() and end.strip()):
        raise UsageError("a name of the two is empty", "for example: indexer path FROM_FUNCTION TO_FUNCTION")
    tree = open_source(version, checkout=checkout, rev=rev, installed=installed)
    graph = survey(tree, FactStore(cache_folder("facts")))
    ends = [_named(graph, name, tree.version) for name in (start, end)]
    chain = chains(graph, ends[0], ends[1])
    steps = [] if chain is None else graph.records(chain)
    places = {(str(one["path"]), int(one["line"])) for one in steps}
    if chain is not None:
        places |= {(graph.functions[n].path, graph.functions[n].line) for edge in chain for n in edge[::2]}
    findings = _findings(tree, places) if not (checkout or installed) else []
    if as_json:
        import json

        answer = {"version": tree.version, "found": chain is not None, "steps": steps, "findings": findings}
        click.echo(json.dumps(answer, indent=2))
    elif chain is None:
        told = (
            f"No chain of calls was found from {start} to {end} in {tree.version}. Calls through what only a "
            "configuration decides are followed in the named paths alone: `indexer show path NAME`."
        )
        click.echo(fit(told))
        _tell_frontier(graph, ends, (start, end))
    else:
        for record in steps:
            at = f"{record['path']}:{record['line']}"
            click.echo(fit(f"{at}  {record['caller']} → {record['callee']}  [{record['how']}]"))
        last = graph.functions[chain[-1][2]]
        click.echo(f"{last.path}:{last.line}  {last.qualname}")
        for finding in findings:
            click.echo(fit(f"finding: {finding['what']}  [{finding['kind']}, {finding['at'][0]}]"))
    if chain is None:
        raise click.exceptions.Exit(FINDINGS)


def _named(graph: Survey, name: str, version: str) -> set[int]:
    """Return the functions of a name, in any case where no other is spelled so.

    Raises:
        UsageError: there is none; the nearest are told.
    """
    from indexer.errors import UsageError

    if found := graph.named(name):
        return found
    near = graph.near(name)
    same = [one for one in near if one.casefold() == name.casefold()]
    if len(same) == 1:
        return graph.named(same[0])
    hint = f"nearest: {', '.join(near)}" if near else "`*` stands for any part: '*.forward_extend'"
    raise UsageError(f"no function {name} in SGLang {version}", hint)


def _tell_frontier(graph: Survey, ends: list[set[int]], names: tuple[str, str]) -> None:
    """Say where the chains to TO begin, so that the gap between the two can be looked at."""
    from indexer.syntax.callgraph.survey import chains, entries

    if chains(graph, ends[1], ends[0]) is not None:
        click.echo(fit(f"There is one the other way round: indexer path {names[1]} {names[0]}"))
    begin = entries(graph, ends[1])
    if begin:
        click.echo(fit(f"{names[1]} is reached from these, which no followed call leads to:"))
    else:
        click.echo(fit(f"No followed call leads to {names[1]}."))
    for number in begin[:_MOST_ENTRIES]:
        function = graph.functions[number]
        click.echo(f"  {function.path}:{function.line}  {function.qualname}")
    if len(begin) > _MOST_ENTRIES:
        click.echo(f"  and {len(begin) - _MOST_ENTRIES} more")


def _findings(tree: SourceTree, places: set[tuple[str, int]]) -> list[dict[str, Any]]:
    """Return what the named code paths find at functions or calls of the chain, if they are in the cache."""
    from indexer.knowledge.values import written_place
    from indexer.snapshots import cached_path, get_snapshot

    if not cached_path(tree.version).is_file():
        return []
    found = {}
    for path in get_snapshot(tree.version, tree).code_paths:
        for finding in path.findings:
            at = [place for one in finding.get("at") or [] if (place := written_place(one))]
            if any((place.path, place.line) in places for place in at):
                found[str(finding.get("what"))] = dict(finding)
    return list(found.values())
