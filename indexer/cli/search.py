"""``indexer search``: find facts by name, words, or a mistyped spelling of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indexer.knowledge.addresses import KINDS

if TYPE_CHECKING:
    from indexer.search.messages import Match


_FEWEST_WORDS = 4
"""A shorter query is a name or words to look for, not an error or a log line."""
_SURE = 0.9
"""Likeness from which words alone point at a message."""


def _written_by(text: str, version: str, limit: int) -> list[Match]:
    """Return the rules that wrote a pasted error or log line, none where it is only words."""
    if len(text.split()) < _FEWEST_WORDS and "\n" not in text and "Error" not in text:
        return []
    from indexer.search.messages import MessageIndex
    from indexer.snapshots import get_snapshot

    found = MessageIndex(get_snapshot(version, code_paths=False).rules).find(text, limit)
    return [match for match in found if match.how != "near" or match.score >= _SURE]


def _print_matches(text: str, version: str, matches: list[Match], as_json: bool) -> None:
    if as_json:
        import msgspec

        from indexer.knowledge.addresses import address_of

        hits = [
            {
                "id": f"rule:{match.rule.id}",
                "kind": "rule",
                "how": match.how,
                "score": round(match.score, 3),
                "values": match.values,
                "url": address_of(version, "rule", match.rule),
                "rule": match.rule,
            }
            for match in matches
        ]
        answer = {"query": text, "version": version, "mended": {}, "hits": hits}
        click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())
        return
    from indexer.cli._facts import rule_line

    for match in matches:
        rule = match.rule
        click.echo(click.style(" ".join(rule_line(rule).split()), bold=True))
        click.echo(" " * 11 + click.style(f"{rule.at.path}:{rule.at.line}", fg="cyan") + f"  rule:{rule.id}")
        for name, value in match.values.items():
            click.echo(" " * 11 + f"{name} = {value}")
        for condition in rule.guard:
            click.echo(" " * 11 + ("" if condition.holds else "not ") + condition.text)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("query", nargs=-1, required=True)
@click.option("--version", "version", metavar="V", help="SGLang version; default: the default pin.")
@click.option("--kind", type=click.Choice(KINDS), help="Only facts of this kind.")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Most hits to print."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(query: tuple[str, ...], version: str | None, kind: str | None, limit: int, as_json: bool) -> None:
    """Search the facts of a SGLang version.

    Paste an error, a traceback or a log line, with its values filled in, to get the rule behind it.

    Any spelling of a name finds it: --speculative-num-steps, speculative_num_steps, "num steps",
    SpeculativeNumSteps, cut short, or with a letter wrong.
    """
    from indexer.errors import UsageError
    from indexer.search.open import build_index, cached_index
    from indexer.snapshots import default_version, get_snapshot

    version = version or default_version()
    text = " ".join(query)
    if not any(letter.isalnum() for letter in text):
        raise UsageError("nothing to search for", 'for example: indexer search "num draft tokens"')
    if kind in (None, "rule") and (matches := _written_by(text, version, limit)):
        _print_matches(text, version, matches, as_json)
        return
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
        told = text if len(text) <= 200 else text[:199] + "…"
        click.echo(f"nothing in SGLang {version} matches {told!r}")
        return
    for typed, meant in index.mended(text).items():
        click.echo(click.style(f"{typed!r} taken as {meant!r}", dim=True))
    for hit in hits:
        found = hit.document
        title = " ".join(found.title.split())
        title = title if len(title) <= 66 else title[:65] + "…"
        click.echo(f"{found.kind:<10} " + click.style(title, bold=True))
        click.echo(" " * 11 + click.style(f"{found.path}:{found.line}", fg="cyan"))
