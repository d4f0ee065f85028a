"""All names of one kind of fact, a line each."""

from __future__ import annotations

from typing import Any

import click

from indexer.knowledge.addresses import address_of, fact_id, fact_name, facts_of
from indexer.knowledge.schema import Algorithm, CodePath, EnvVar, Flag, Model, Rule, Snapshot
from indexer.search.documents import about, title

_WIDEST = 40
"""Columns kept for names; a longer one pushes what is said of it."""


def list_facts(snapshot: Snapshot, kind: str, as_json: bool) -> None:
    """Print the names that ``show KIND`` takes, each with what tells it from others, cut to the terminal."""
    facts = sorted(facts_of(snapshot, kind), key=fact_name)
    if as_json:
        import msgspec

        version = snapshot.source.version
        records = [
            {"id": fact_id(kind, fact), "name": fact_name(fact), "url": address_of(version, kind, fact)}
            for fact in facts
        ]
        click.echo(msgspec.json.format(msgspec.json.encode(records)).decode())
        return
    from indexer.cli._terminal import cut

    lines = [(fact.option_strings[0] if isinstance(fact, Flag) else fact_name(fact), fact) for fact in facts]
    width = min(_WIDEST, max((len(name) for name, _ in lines), default=0))
    for name, fact in lines:
        click.echo(cut(f"{name:<{width}}  {' '.join(_said(fact).split())}".rstrip()))


def _said(fact: Any) -> str:
    """Return what tells a fact from the others of its kind, beside its name."""
    if isinstance(fact, Algorithm):
        aliases = dict.fromkeys(alias.name for alias in fact.aliases)
        return f"also {', '.join(aliases)}" if aliases else ""
    if isinstance(fact, Model):
        kinds = ["draft model"] if fact.is_draft else []
        return ", ".join([*kinds, *([f"{fact.hybrid.get('kind')} state"] if fact.hybrid else [])])
    if isinstance(fact, EnvVar):
        return f"matters for {', '.join(fact.relevance)}" if fact.relevance else ""
    return title(fact) if isinstance(fact, CodePath | Rule) else about(fact)
