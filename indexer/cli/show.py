"""``indexer show``: one fact, for a reader or as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.knowledge.addresses import KINDS

if TYPE_CHECKING:
    from indexer.knowledge.schema import CodePath, Snapshot


class KindName(click.Choice[str]):
    """A kind, also in the plural and in capitals."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        lower = value.lower()
        return super().convert(lower if lower in self.choices else lower.removesuffix("s"), param, ctx)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("kind", type=KindName(KINDS))
@click.argument("name", required=False)
@click.option("--version", "version", metavar="V", help="SGLang version; default: the default pin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--full", "--all", "everything", is_flag=True, help="Don't cut anything.")
@click.option("--arch", metavar="NAME", help="Follow a code path for this hybrid model.")
@click.option("--algorithm", metavar="A", help="Follow a code path for this algorithm.")
def command(
    kind: str,
    name: str | None,
    version: str | None,
    as_json: bool,
    everything: bool,
    arch: str | None,
    algorithm: str | None,
) -> None:
    """Show one fact of a SGLang version, each part with its file and line.

    NAME is an option string or dest (--tp-size, tp_size), an algorithm or its alias, an architecture
    or a folder with a model's config.json, a rule id, a code path or an environment variable. Names that
    are shared show every match; without NAME all names of the kind are listed.
    """
    from indexer.errors import UsageError
    from indexer.knowledge.links import Links
    from indexer.knowledge.lookup import find_facts
    from indexer.knowledge.schema import Model
    from indexer.snapshots import get_snapshot

    if (arch is not None or algorithm is not None) and (kind != "path" or name is None):
        raise UsageError(
            "--arch and --algorithm are for one code path", "`indexer show path` lists those that there are"
        )
    name, version = _versioned(name, version)
    snapshot = get_snapshot(version, code_paths=kind == "path")
    if name is None:
        from indexer.cli._listing import list_facts

        list_facts(snapshot, kind, as_json)
        return
    if not name.strip("- "):
        article = "an" if kind[0] in "aeiou" else "a"
        raise UsageError(f"no name of {article} {kind} to show", f"`indexer show {kind}` lists them")
    names = _architectures(name) if kind == "model" else [name]
    found = [fact for one in names for fact in find_facts(snapshot, kind, one)]
    if arch is not None or algorithm is not None:
        found = [_followed_for(snapshot, fact, arch, algorithm) for fact in found]
    if as_json:
        import msgspec

        from indexer.knowledge.records import fact_record

        records = [fact_record(snapshot.source.version, kind, fact) for fact in found]
        answer = records[0] if len(records) == 1 else records
        click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())
        return
    from indexer.cli._facts import print_fact

    if any(isinstance(fact, Model) and fact.hybrid and not fact.is_draft for fact in found):
        # A hybrid's sheet tells of its memory and its decode path, whatever was asked for before.
        snapshot = get_snapshot(snapshot.source.version)
    links = Links(snapshot)
    for number, fact in enumerate(found):
        if number:
            click.echo()
        print_fact(kind, fact, links, fold=not everything)


def _followed_for(snapshot: Snapshot, path: CodePath, arch: str | None, algorithm: str | None) -> CodePath:
    """Return a code path as it is for another hybrid model (its folder or its architecture) or algorithm.

    Raises:
        UsageError: the release has no such model or algorithm, or nothing that the path is about.
    """
    from indexer.errors import UsageError
    from indexer.extract.code_paths.extract import code_path_variant
    from indexer.knowledge.path_variants import named_variant
    from indexer.progress import busy
    from indexer.source import open_source
    from indexer.source.cache import cache_folder
    from indexer.syntax.factstore import FactStore

    version = snapshot.source.version
    architectures = _architectures(arch) if arch is not None else []
    if len(architectures) > 1:
        raise UsageError(f"{arch} names {' and '.join(architectures)}", "give one of them with --arch")
    algorithm, model = named_variant(snapshot, next(iter(architectures), None), algorithm)
    with busy("following the calls"):
        store = FactStore(cache_folder("facts"))
        found = code_path_variant(open_source(version), store, path.name, algorithm, model)
    if found is None:
        raise UsageError(
            f"SGLang {version} has nothing that {path.name} is about for {algorithm or 'its algorithm'}",
            f"`indexer show path {path.name}` has the path itself",
        )
    return found


def _versioned(name: str | None, version: str | None) -> tuple[str | None, str | None]:
    """Return a name without the ``@version`` or ``==version`` behind it, and the version that is meant.

    Raises:
        UsageError: the name and ``--version`` say different ones.
    """
    from indexer.errors import UsageError

    written = re.fullmatch(r"(.+?)(?:@|==)v?(\d\S*)", name or "")
    if written is None:
        return name, version
    bare, named = written.groups()
    if version not in (None, named):
        raise UsageError(f"{name} and --version {version} say different versions", "leave one of them out")
    return bare, named


def _architectures(name: str) -> list[str]:
    """Return the architectures that a folder's ``config.json`` names; of any other name itself."""
    from indexer.errors import UsageError

    path = Path(name, "config.json")
    if not path.is_file():
        return [name]
    try:
        named = json.loads(path.read_text(encoding="utf-8")).get("architectures")
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"{path} can't be read: {error}", "give the architecture by name") from error
    if not isinstance(named, list) or not named:
        raise UsageError(f"{path} names no architectures", "give the architecture by name")
    return [str(one) for one in named]
