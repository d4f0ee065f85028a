"""Markdown and MDX: fenced and indented code, each in its language."""

from __future__ import annotations

import re
from collections.abc import Callable

from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Word
from indexer.drift.launch.shell import strip_prompts

LANGUAGES = {
    "bash": "shell", "sh": "shell", "shell": "shell", "zsh": "shell", "console": "shell", "text": "shell",
    "shell-session": "shell", "shellsession": "shell", "command": "shell", "terminal": "shell", "": "shell",
    "python": "python", "py": "python", "python3": "python", "ipython": "python",
    "yaml": "yaml", "yml": "yaml", "json": "json", "jsonc": "json", "dockerfile": "dockerfile",
    "docker": "dockerfile", "makefile": "make", "make": "make", "just": "just", "ini": "systemd",
    "systemd": "systemd", "service": "systemd", "slurm": "shell", "toml": "skip",
}  # fmt: skip
_ROLE = re.compile(r"[{\s,:].*$", re.DOTALL)


def read_markdown(text: Located, inner: Callable[[Located, str], FileLaunches]) -> FileLaunches:
    """Read every code block; prose is no launch."""
    from markdown_it import MarkdownIt

    found = FileLaunches()
    lines = _line_starts(text.text)
    for token in MarkdownIt("commonmark").parse(text.text):
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        first, last = token.map
        if token.type == "fence":
            first += 1
        language = LANGUAGES.get(_ROLE.sub("", token.info.strip().lower().lstrip("{")).strip("}"), "skip")
        if language == "skip" or not (
            "sglang" in token.content or "--" in token.content or "SGL" in token.content
        ):
            continue
        block = _place(token.content, text, lines, first, last)
        if language == "shell":
            block = strip_prompts(block)
        more = inner(block, language)
        for launch in more.launches:
            launch.partial = True
            launch.words = _told(launch.words)
        found.launches += more.launches
        found.settings += more.settings
    return found


_CAPITALS = re.compile(r"[A-Z][A-Z0-9_-]*")
_ANYTHING = frozenset(
    [
        *("N", "M", "K", "X", "INT", "FLOAT", "NUM", "NUMBER", "JSON", "STR", "STRING"),
        *("PATH", "FILE", "DIR", "NAME", "VALUE", "URL", "HOST"),
    ]
)


def _told(words: list[Word]) -> list[Word]:
    """Return the words without what stands for a value in capitals (``--port PORT``, ``--tp-size N``).

    A value in capitals that is not called like its option (``EAGLE``) is a value.
    """
    told: list[Word] = []
    option = ""
    for word in words:
        name, equals, value = word.text.partition("=")
        if name.startswith("--"):
            option = name
            if equals and _stands_for_a_value(option, value):
                word = Word(f"{name}={DYNAMIC}", word.start, word.end, word.splits, word.branch)
        elif _stands_for_a_value(option, word.text):
            word = Word(DYNAMIC, word.start, word.end, word.splits, word.branch)
        told.append(word)
    return told


def _stands_for_a_value(option: str, text: str) -> bool:
    if not option or not _CAPITALS.fullmatch(text):
        return False
    named = set(re.split("[-_]", option.lower()))
    return text in _ANYTHING or set(re.split("[-_]", text.lower())) <= named


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text)]


def _place(content: str, text: Located, lines: list[int], first: int, last: int) -> Located:
    """Locate a block's lines: markdown-it takes indentation and quote marks off their beginnings."""
    builder = Builder()
    for number, line in enumerate(content.splitlines(keepends=True), first):
        if number >= len(lines) - 1:
            break
        begin, end = lines[number], lines[number + 1]
        at = text.text.rfind(line.rstrip("\n"), begin, end) if line.strip() else begin
        builder.add(line, text.at(at if at >= 0 else begin))
    return builder.done()
