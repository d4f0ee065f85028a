"""Jupyter notebooks: code cells as Python, ``!`` and ``%%bash`` as shell, text cells as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml

from indexer.drift.launch.located import Builder, Located, align
from indexer.drift.launch.model import FileLaunches
from indexer.drift.launch.plain import plain_json

_SHELL_MAGIC = re.compile(r"^%%(bash|sh|shell|script bash)\b.*\n?")
_BANG = re.compile(r"^[ \t]*!((?:[^\n\\]|\\.|\\\n)*)$", re.MULTILINE)
_MAGIC = re.compile(r"^[ \t]*[!%?](?:[^\n\\]|\\.|\\\n)*$", re.MULTILINE)


def read_notebook(text: Located, inner: Callable[[Located, str], FileLaunches]) -> FileLaunches:
    """Read the cells' sources; outputs are not launches."""
    found = FileLaunches()
    text = plain_json(text)
    try:
        root = yaml.compose(text.text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, RecursionError):
        found.notes.append("not valid JSON")
        return found
    for cell in _items(_get(root, "cells")):
        kind, source = _get(cell, "cell_type"), _get(cell, "source")
        content = _source(text, source)
        if content is None or not isinstance(kind, yaml.ScalarNode):
            continue
        for piece, language in _pieces(content, kind.value):
            more = inner(piece, language)
            found.launches += more.launches
            found.settings += more.settings
    return found


def _pieces(content: Located, kind: str) -> list[tuple[Located, str]]:
    if kind == "markdown":
        return [(content, "markdown")]
    if kind != "code":
        return []
    magic = _SHELL_MAGIC.match(content.text)
    if magic:
        return [(content.cut(magic.end()), "shell")]
    shell = [(content.cut(m.start(1), m.end(1)), "shell") for m in _BANG.finditer(content.text)]
    builder, position = Builder(), 0
    for match in _MAGIC.finditer(content.text):
        builder.add_located(content.cut(position, match.start()))
        position = match.end()
    builder.add_located(content.cut(position))
    return [*shell, (builder.done(), "python")]


def _get(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((v for k, v in node.value if isinstance(k, yaml.ScalarNode) and k.value == key), None)


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _source(text: Located, node: yaml.Node | None) -> Located | None:
    lines = [node] if isinstance(node, yaml.ScalarNode) else _items(node)
    builder = Builder()
    for line in lines:
        if isinstance(line, yaml.ScalarNode):
            raw = text.cut(line.start_mark.index + 1, max(line.start_mark.index + 1, line.end_mark.index - 1))
            builder.add_located(align(line.value, raw, double_quoted=True))
    done = builder.done()
    return done if done.text else None
