"""JavaScript and TypeScript: the strings from which pages put a command together.

Documentation builds its commands of string and template literals. Nothing is run: every literal, or row of
literals in an array, stands for itself, and what ``${...}`` puts in isn't known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.drift.launch.expansion import split_words, word_of
from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Launch, Word
from indexer.drift.launch.programs import (
    find_launches,
    is_flag_list,
    soften,
    starts_sglang,
    without_placeholders,
)
from indexer.drift.launch.shell import read_shell

_LONGEST_LINE = 20_000
"""A file with a longer line was made by a machine."""
_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|[\"'`]", re.DOTALL)
_BETWEEN_ITEMS = re.compile(r"\s*,\s*")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\n", "\n": ""}


def read_javascript(text: Located) -> FileLaunches:
    """Read JavaScript or TypeScript that is about SGLang."""
    found = FileLaunches()
    if "sglang" not in text.text.lower() or max(map(len, text.text.split("\n"))) > _LONGEST_LINE:
        return found
    row: list[Located] = []
    last = 0
    for begin, end, literal in _literals(text):
        if not _BETWEEN_ITEMS.fullmatch(text.text, last, begin):
            _take(row, found)
            row = []
        row.append(literal)
        last = end
    _take(row, found)
    for launch in found.launches:
        # What the page adds before and behind isn't seen.
        launch.open_end = launch.partial = True
    return found


def _take(row: list[Located], found: FileLaunches) -> None:
    """Take a row of literals for the words of one command, or each for a text of its own."""
    if len(row) > 1 and not any(re.search(r"\s", literal.text) for literal in row):
        _take_words([word_of(literal) for literal in row], found)
        return
    for literal in row:
        if starts_sglang(literal.text) and "-" in literal.text:
            inner = read_shell(literal)
            found.launches += inner.launches
            found.settings += inner.settings
        elif "--" in literal.text:
            _take_words(split_words(without_placeholders(literal)), found)


def _take_words(words: list[Word], found: FileLaunches) -> None:
    words = [soften(word) for word in words]
    launches = list(find_launches(words))
    if not launches and is_flag_list(words):
        launches = [Launch(program="fragment", words=words)]
    found.launches += launches


def _literals(text: Located) -> Iterator[tuple[int, int, Located]]:
    """Yield each literal with its begin and end in the text, its escapes resolved."""
    at = 0
    while (match := _TOKEN.search(text.text, at)) is not None:
        at = match.end()
        if len(match[0]) == 1:
            end, literal = _literal(text, at, match[0])
            if literal is not None:
                yield match.start(), end, literal
            at = end


def _literal(text: Located, begin: int, quote: str) -> tuple[int, Located | None]:
    """Return where a literal ends, and what it holds; None where it has no end."""
    builder, at, source = Builder(), begin, text.text
    while at < len(source):
        letter = source[at]
        if letter == quote:
            return at + 1, builder.done()
        if letter == "\n" and quote != "`":
            return at, None
        if letter == "\\" and at + 1 < len(source):
            builder.add(_ESCAPES.get(source[at + 1], source[at + 1]), text.at(at + 1))
            at += 2
        elif letter == "$" and quote == "`" and source.startswith("{", at + 1):
            builder.add(DYNAMIC, text.at(at))
            at = _behind_braces(source, at + 1)
        else:
            builder.add(letter, text.at(at))
            at += 1
    return len(source), None


def _behind_braces(source: str, at: int) -> int:
    """Return the place behind the brace that closes the one at ``at``."""
    depth = 0
    while at < len(source):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
        if depth == 0:
            break
    return at
