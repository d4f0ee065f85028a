"""What a composed YAML node is, and where in the file its text stands."""

from __future__ import annotations

import re

import yaml

from indexer.drift.launch.located import Located, align

_TRUE = ("true", "yes", "on")
_ARGUMENTS_GO_ON = re.compile(
    r"'[^']*'|\"(?:\\.|[^\"\\])*\"|(?<=[^\\])\n(?=\s*-)|(?<=\s)(--[\w-]+)[ \t]*\n", re.DOTALL
)
"""Quoted text as it is; ends of lines between options, or between an option and its value."""


def located(text: Located, node: yaml.ScalarNode) -> Located:
    """Return the value of a scalar of the document ``text``."""
    start, end = node.start_mark.index, node.end_mark.index
    raw = text.cut(start, end)
    if node.style == '"':
        return align(node.value, raw.cut(1, max(1, len(raw) - 1)), double_quoted=True)
    if node.style == "'":
        return align(node.value, raw.cut(1, max(1, len(raw) - 1)))
    if node.style in ("|", ">"):
        return align(node.value, raw.cut(min(len(raw), raw.text.find("\n") + 1)))
    if raw.text.startswith(node.value):
        return raw.cut(0, len(node.value))
    return align(node.value, raw)


def argument_list(text: Located) -> Located:
    """Return a container's command, which no shell reads, with its options on one line: for Compose the end
    of a line is a blank like any other."""

    def joined(match: re.Match[str]) -> str:
        return match[0] if match[0][0] in "'\"" else match[0].replace("\n", " ")

    return Located(_ARGUMENTS_GO_ON.sub(joined, text.text), text.runs())


def start(text: Located, node: yaml.ScalarNode) -> int:
    """Return the file offset of a scalar's first character, behind its quote."""
    return text.at(node.start_mark.index + (1 if node.style in ("'", '"') else 0))


def truth(node: yaml.ScalarNode) -> bool | None:
    """Return what a scalar says that is true or false, None for any other."""
    return node.value.lower() in _TRUE if _is(node, "bool") else None


def is_null(node: yaml.ScalarNode) -> bool:
    """Whether a scalar stands for nothing (``null``, ``~``, an empty value)."""
    return _is(node, "null")


def _is(node: yaml.ScalarNode, kind: str) -> bool:
    return not node.style and node.tag.endswith(f":{kind}")
