"""What a composed YAML node is, and where in the file its text stands."""

from __future__ import annotations

import yaml

from indexer.drift.launch.located import Located, align

_TRUE = ("true", "yes", "on")


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
