"""What argparse says when it refuses a command line, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ERROR = re.compile(
    r"(?:^|error: )(?P<problem>"
    r"argument (?P<argument>-[^\s:]+): (?P<refused>.+)"
    r"|unrecognized arguments: (?P<unrecognized>.+)"
    r"|ambiguous option: (?P<ambiguous>-[^\s=]+)\S* could match .+"
    r"|the following arguments are required: (?P<required>.+)"
    r")$"
)
_VALUE = re.compile(
    r"invalid (?:choice|(?P<type>\S+) value): "
    r"(?P<quote>['\"]?)(?P<value>.*?)(?P=quote)(?: \(choose from .*)?$"
)


@dataclass(frozen=True)
class ParserError:
    """An error of argparse: its words, the options it is about, each in all spellings that it was told with,
    the value that one of them did not take, and the name of its ``type=`` where that was the reason."""

    problem: str
    options: tuple[tuple[str, ...], ...]
    value: str | None = None
    type: str | None = None


def parser_error(text: str) -> ParserError | None:
    """Return what argparse refused, told in one line of a text or, folded by a terminal, in all of it; None:
    the text is no error of argparse that names an option."""
    for line in (*text.splitlines(), text):
        found = _ERROR.search(" ".join(line.split()))
        options = _options(found) if found is not None else ()
        if found is not None and options:
            value = _VALUE.match(found["refused"] or "")
            told = (value["value"], value["type"]) if value else (None, None)
            return ParserError(found["problem"], options, *told)
    return None


def _options(found: re.Match[str]) -> tuple[tuple[str, ...], ...]:
    if found["argument"]:
        named = [found["argument"]]
    elif found["ambiguous"]:
        named = [found["ambiguous"]]
    elif found["required"]:
        named = found["required"].split(", ")
    else:
        named = [word.partition("=")[0] for word in found["unrecognized"].split()]
    options = [one for one in named if one.startswith("-") and one.strip("-")]
    return tuple(tuple(one.split("/")) for one in dict.fromkeys(options))
