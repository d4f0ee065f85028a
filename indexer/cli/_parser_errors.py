"""An error of argparse, told with the stories of what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from indexer.cli._stories import abbreviation_told, story_told
from indexer.cli._terminal import fit

if TYPE_CHECKING:
    from indexer.knowledge.history import History
    from indexer.knowledge.stories import Story
    from indexer.search.parser_errors import ParserError


def tell_parser_error(history: History, error: ParserError, as_json: bool) -> None:
    """Print what became of the options that argparse refused, or refused a value of.

    Raises:
        UsageError: no release ever had any of them, or anything like them.
    """
    from indexer.errors import UsageError

    named = [_named(history, spellings) for spellings in error.options]
    covered = f"{history.versions[0]} to {history.versions[-1]}"
    known = [one for one in named if one["stories"] or one["near"]]
    if not known:
        names = ", ".join(one["name"] for one in named)
        raise UsageError(f"no covered release ({covered}) has {names}, or an option like it")
    value = _value(history, known[0]["stories"], error)
    if as_json:
        import msgspec

        body = {"versions": [history.versions[0], history.versions[-1]], "argparse": error, "options": named}
        click.echo(msgspec.json.format(msgspec.json.encode(body | {"value": value}), indent=2).decode())
        return
    parts = []
    for one in named:
        lines = [story_told(history, story) for story in one["stories"]]
        if one["abbreviation"] is not None:
            lines.insert(0, abbreviation_told(one["name"], one["abbreviation"], history.versions[-1]))
        if not lines:
            near = f"; did you mean {', '.join(one['near'])}?" if one["near"] else ""
            lines = [f"no covered release ({covered}) has {one['name']}{near}"]
        parts.append("\n".join(lines))
    if value is not None:
        parts.insert(0, _value_told(value, error.type, covered))
    click.echo(fit("\n\n".join(parts)))


def _named(history: History, spellings: tuple[str, ...]) -> dict[str, Any]:
    """Return an option's stories, what argparse takes it for where it is none, and else the nearest."""
    from indexer.knowledge.lookup_history import abbreviation, stories, suggestions

    name = max(spellings, key=len)
    found = next((found for one in spellings if (found := stories(history, one))), [])
    short = abbreviation(history, name) if not found else None
    if short is not None:
        found = stories(history, short.option)
    near = suggestions(history, name) if not found else []
    return {"name": name, "stories": found, "abbreviation": short, "near": near}


def _value(history: History, told: list[Story], error: ParserError) -> dict[str, Any] | None:
    """Return when the value was a choice of the option, what is near, and the algorithm of that name."""
    from indexer.knowledge.lookup_history import choice, stories
    from indexer.knowledge.nearest import nearest

    if not told or error.value is None:
        return None
    option = told[0].name
    if error.type is not None:
        return {"option": option, "value": error.value}
    found = choice(history, option, error.value)
    algorithms = [one.name for one in stories(history, error.value) if one.kind == "algorithm"]
    return {
        "option": option,
        "value": error.value,
        "choice_in": found.stretches,
        "near": nearest(error.value, found.ever) if not found.stretches else [],
        "algorithm": algorithms[0] if algorithms else None,
    }


def _value_told(value: dict[str, Any], type_name: str | None, covered: str) -> str:
    option, asked = value["option"], repr(value["value"])
    if type_name is not None:
        return f"{option} takes a value of {type_name}(), which {asked} is not"
    if value["choice_in"]:
        spans = (first if first == last else f"{first} … {last}" for first, last in value["choice_in"])
        told = f"{asked} is among the listed choices of {option} in {', '.join(spans)}"
    else:
        near = f"; did you mean {', '.join(value['near'])}?" if value["near"] else ""
        told = f"no covered release ({covered}) lists {asked} among the choices of {option}{near}"
    return told + (f"; the algorithm: indexer history {value['algorithm']}" if value["algorithm"] else "")
