"""``indexer search``: find facts by name, words, or a mistyped spelling of them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from indexer.cli._terminal import fit
from indexer.knowledge.addresses import KINDS

if TYPE_CHECKING:
    from indexer.knowledge.elsewhere import Elsewhere
    from indexer.search.messages import Match
    from indexer.search.ranking import Hit


_FEWEST_WORDS = 4
"""A shorter query is a name or words to look for, not an error or a log line."""
_QUOTED = 200
"""Characters of a query that are repeated in an answer."""


def _pasted(text: str) -> bool:
    return len(text.split()) >= _FEWEST_WORDS or "\n" in text or "Error" in text


def _written_by(text: str, version: str, limit: int) -> list[Match]:
    """Return the rules that wrote a pasted error or log line, none where it is only words."""
    from indexer.search.open import message_index

    return message_index(version).find(text, limit)


def _said_before(text: str) -> str | None:
    """Return a line about the message of releases now gone that a pasted text is, None where it is none."""
    from indexer.knowledge.message_words import ALIKE, load_message_words
    from indexer.knowledge.messages import load_messages
    from indexer.search.pasted import said

    message = said(text)
    found = load_message_words().find(message, 1)
    history = load_messages() if found else None
    if history is None:
        return None
    stays = history.stays_of(found[0].message.key)
    like = "like a message" if found[0].how == ALIKE else "a message"
    asked = shlex.quote(" ".join(message.split())[:_QUOTED])
    return f"{like} of {stays[0].first} … {stays[-1].last}: indexer history --message {asked}"


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
        answer = {"query": text, "version": version, "confident": True, "mended": {}, "hits": hits}
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

    Exit code 1: nothing is known about it; what is listed only has some of its words.
    """
    from indexer.errors import FINDINGS, UsageError
    from indexer.search.index import LOOKED_AT
    from indexer.search.open import build_index, cached_index, elsewhere_beside
    from indexer.search.others import meant_elsewhere
    from indexer.snapshots import default_version, get_snapshot

    version = version or default_version()
    text = " ".join(query)
    if not any(letter.isalnum() for letter in text):
        raise UsageError("nothing to search for", 'for example: indexer search "num draft tokens"')
    pasted = kind in (None, "rule") and _pasted(text)
    if pasted and (matches := _written_by(text, version, limit)):
        _print_matches(text, version, matches, as_json)
        return
    index = cached_index(version) or build_index(get_snapshot(version))
    best = index.search(text, kind, max(limit, LOOKED_AT))
    known = [one for one in elsewhere_beside(version) if kind in (None, one.kind)]
    answer = _Answer(
        best[:limit],
        index.sure(text, best),
        index.mended(text),
        index.unknown(text),
        meant_elsewhere(text, known, best),
        _said_before(text) if pasted else None,
    )
    if as_json:
        answer.print_json(text, version)
    else:
        answer.print(text, version)
    if not (answer.confident or answer.elsewhere or answer.said_before):
        raise click.exceptions.Exit(FINDINGS)


@dataclass(frozen=True)
class _Answer:
    """What a search found, how sure it is, and what other releases have."""

    hits: list[Hit]
    confident: bool
    mended: dict[str, str]
    unknown: list[str]
    elsewhere: list[Elsewhere]
    said_before: str | None

    def print_json(self, text: str, version: str) -> None:
        import msgspec

        answer = {
            "query": text,
            "version": version,
            "confident": self.confident,
            "unknown": self.unknown,
            "mended": self.mended,
            "elsewhere": [
                {"kind": one.kind, "name": one.name, "told": one.told, "command": one.command}
                for one in self.elsewhere
            ],
            "said_before": self.said_before,
            "hits": [hit.record() for hit in self.hits],
        }
        click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())

    def print(self, text: str, version: str) -> None:
        from indexer.knowledge.lookup import LABELS

        for typed, meant in self.mended.items():
            click.echo(click.style(f"{typed!r} taken as {meant!r}", dim=True))
        for one in self.elsewhere:
            label = LABELS.get(one.kind, one.kind)
            click.echo(fit(f"SGLang {version} has no {label} {one.name}: {one.told}; see: {one.command}"))
        if self.said_before is not None:
            click.echo(fit(f"SGLang {version} does not say this; it is {self.said_before}"))
        if not self.confident:
            told = " ".join(text.split())
            told = told if len(told) <= _QUOTED else told[: _QUOTED - 1] + "…"
            words = f" ({', '.join(self.unknown)})" if len(text.split()) > len(self.unknown) > 0 else ""
            more = "nothing else" if self.elsewhere or self.said_before else "nothing"
            nearest = "; nearest:" if self.hits else ""
            click.echo(fit(f"{more} known about {told!r}{words} in SGLang {version}{nearest}"))
        for hit in self.hits:
            found = hit.document
            title = " ".join(found.title.split())
            title = title if len(title) <= 66 else title[:65] + "…"
            click.echo(f"{found.kind:<10} " + click.style(title, bold=True))
            click.echo(" " * 11 + click.style(f"{found.path}:{found.line}", fg="cyan"))
