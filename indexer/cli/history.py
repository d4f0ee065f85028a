"""``indexer history``: the story of a flag, algorithm or variable; and building the history file."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli._stories import abbreviation_told, story_told
from indexer.cli._terminal import fit

if TYPE_CHECKING:
    from indexer.knowledge.history_build import Built
    from indexer.knowledge.message_words import Found
    from indexer.knowledge.message_words import Story as MessageStory
    from indexer.knowledge.messages import MessageHistory


_WORDS_OF_MESSAGE = 4
"""So many words are a message rather than a name."""


class NameOrBuild(click.Group):
    """A group whose first word is ``build``, or else a name to tell the story of."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            return "of", self.commands["of"], args
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `indexer history --tp-size` asks for a flag; only these are the group's own options.
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["of", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Forms"):
            formatter.write_dl(
                [
                    ("NAME", "The story of a flag, algorithm or environment variable."),
                    ("--message TEXT", "Since when, until when SGLang says something (an error, pasted)."),
                    ("rules V...", "Read the rules of releases, for `drift --kind rules`."),
                    ("build", "Build the history file from all releases."),
                ]
            )


@click.group("history", cls=NameOrBuild, subcommand_metavar="NAME | build [OPTIONS]")
def command() -> None:
    """Since when, until when, what changed: NAME is a flag (any spelling), an algorithm or a variable.

    With NAME, --json is for machines and --history FILE reads another history file.
    """


@command.command("of", context_settings={"ignore_unknown_options": True})
@click.argument("name", default="")
@click.option("--message", "message", metavar="TEXT", help="Ask for a message instead; - reads it.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@click.option("--history", "history_file", type=click.Path(path_type=Path), help="Another history file.")
def of(name: str, message: str | None, as_json: bool, history_file: Path | None) -> None:
    """Tell the story of NAME."""
    from indexer.errors import UsageError
    from indexer.knowledge.history import load_history
    from indexer.knowledge.lookup_history import abbreviation, stories, suggestions

    if message is not None:
        _tell_message(sys.stdin.read() if message == "-" else message, history_file, as_json)
        return
    if not name.strip("- "):
        raise UsageError("no name to tell the story of", "for example: indexer history --tp-size")
    history = load_history(history_file)
    found = stories(history, name)
    short = abbreviation(history, name) if not found else None
    if short is not None:
        found = stories(history, short.option)
    if not found:
        near = suggestions(history, name)
        fix = "the history is of flags, algorithms and environment variables"
        if len(name.split()) >= _WORDS_OF_MESSAGE:
            fix = f"of a message: indexer history --message {shlex.quote(name)}"
        elif near:
            fix = f"did you mean {', '.join(near)}?"
        raise UsageError(
            f"no covered release ({history.versions[0]} to {history.versions[-1]}) has {name}", fix
        )
    if as_json:
        import msgspec

        body = {
            "versions": [history.versions[0], history.versions[-1]],
            "stories": msgspec.to_builtins(found),
        }
        if short is not None:
            body["abbreviation"] = {"name": name, **short._asdict()}
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2).decode())
        return
    if short is not None:
        click.echo(fit(abbreviation_told(name, short, history.versions[-1])))
    click.echo(fit("\n\n".join(story_told(history, story) for story in found)))


def _tell_message(text: str, history_file: Path | None, as_json: bool) -> None:
    from indexer.errors import UsageError
    from indexer.knowledge.message_words import load_message_words
    from indexer.knowledge.messages import load_messages
    from indexer.search.parser_errors import parser_error
    from indexer.search.pasted import said

    refused = parser_error(text)
    if refused is not None:
        from indexer.cli._parser_errors import tell_parser_error
        from indexer.knowledge.history import load_history

        tell_parser_error(load_history(history_file), refused, as_json)
        return
    words, history = load_message_words(), load_messages()
    text = said(text)
    found = words.find(text) if history is not None else []
    if history is None or not found:
        raise UsageError(
            "no covered release says this in its arguments' rules or start-up checks",
            "paste three or more words of the message as they stand; `indexer search` finds more",
        )
    told = [_with_text(one, words.story(one.message, history), text, history) for one in found]
    if as_json:
        import msgspec

        body = {"versions": [history.releases[0], history.releases[-1]], "messages": told}
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2).decode())
        return
    click.echo(fit("\n\n".join(one.told() for one in told)))
    if not any(one.text for one in told):
        last = told[0].last
        click.echo(
            fit(f"\nNo release that says this is in the cache: `indexer history rules {last}` reads one.")
        )


def _with_text(found: Found, story: MessageStory, pasted: str, history: MessageHistory) -> MessageStory:
    """Return the story with its words, from a release that is at hand, and how well they match by them."""
    from indexer.knowledge.message_texts import message_text
    from indexer.knowledge.message_words import ALIKE, PART
    from indexer.search.messages import says

    story.match = found.how
    read = message_text(found.message.key, story.kind, history)
    if read is not None:
        story.text = " ".join(read.text.split())
        story.text_at = f"{read.version} {read.at.path}:{read.at.line}"
        story.text_in = read.function.rpartition(".")[2]
        if found.how == ALIKE and says(read.text, pasted):
            story.match = PART
    return story


@command.command("rules")
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...")
def rules(versions: tuple[str, ...]) -> None:
    """Read the rules of releases and keep them in the cache."""
    from indexer.knowledge.release_rules import release_rules

    for version in versions:
        click.echo(f"{version}: {len(release_rules(version).rules)} rules")


@command.command("build")
@click.option("--from", "first", metavar="V", help="The oldest release.  [default: 0.4.1]")
@click.option("--to", "last", metavar="V", help="The newest release.  [default: the newest there is]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write.  [default: the history that the other commands read]",
)
@click.option(
    "--jobs", type=click.IntRange(1, 16), default=2, show_default=True, help="Releases read at once."
)
@click.option("--allow-gaps", is_flag=True, help="Leave out releases that can't be read.")
def build(first: str | None, last: str | None, output: Path | None, jobs: int, allow_gaps: bool) -> None:
    """Read every release and fold the facts into one file.

    Wheels come from the cache; one that had to be fetched is dropped after it was read. An interrupted
    build goes on where it was.
    """
    from indexer.errors import CannotError
    from indexer.knowledge.history import SHIPPED
    from indexer.knowledge.history_build import build_history, releases_to_cover
    from indexer.knowledge.history_file import encode
    from indexer.knowledge.store import write_atomically

    target = output or SHIPPED
    versions = releases_to_cover(first, last)
    if output is None:
        _refuse_to_narrow(versions, target)
    with _progress(len(versions)) as advance:
        built = build_history(versions, jobs=jobs, tell=lambda text: click.echo(text, err=True), done=advance)
    if built.failed and not allow_gaps:
        listed = "; ".join(f"{version}: {error.message}" for version, error in built.failed.items())
        raise CannotError(
            f"{len(built.failed)} of {len(versions)} releases can't be read ({listed}); nothing was written",
            "what was read is kept: try again, or --allow-gaps",
        )
    content = encode(built.history)
    write_atomically(target, content)
    click.echo(_summary(built))
    click.echo(f"{target}: {len(content):,} bytes")
    sys.exit(1 if built.failed else 0)


def _refuse_to_narrow(versions: list[str], target: Path) -> None:
    from indexer.errors import CannotError, UsageError
    from indexer.knowledge.history_file import read_history_file

    try:
        known = {release.version for release in read_history_file(target).releases}
    except CannotError:
        return  # none there yet, or one that can't be read: nothing to lose
    if lost := known - set(versions):
        raise UsageError(
            f"{target} covers {len(lost)} releases outside the range", "name another file with --output"
        )


def _progress(total: int) -> Any:
    """Return a context that gives a function to call for each finished release."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        if not sys.stderr.isatty():
            yield lambda version: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Reading releases", total=total)
            yield lambda version: progress.update(task, advance=1, description=f"Read {version}")

    return bar()


def _summary(built: Built) -> str:
    """Return a table: release, flags, algorithms, variables, what is not known or not recognised."""
    columns = ("release", "flags", "algorithms", "variables", "unknown", "unrecognised")
    rows = [
        (
            entry.release.version,
            len(entry.facts.flags),
            len(entry.facts.algorithms),
            len(entry.facts.env_vars),
            entry.facts.unknown,
            entry.facts.unrecognised,
        )
        for entry in built.entries
    ]
    return "\n".join(f"{row[0]:<14}" + "".join(f"{cell:>14}" for cell in row[1:]) for row in [columns, *rows])
