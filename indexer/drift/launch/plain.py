"""Texts without what their parser would stumble over; everything keeps its place."""

from __future__ import annotations

import re

from indexer.drift.launch.located import Located, blank
from indexer.drift.launch.model import DYNAMIC

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TEMPLATE_LINE = re.compile(r"^[ \t]*(?:\{\{[^{}]*\}\}|\{%.*?%\})[ \t]*$", re.MULTILINE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TAB = re.compile(r"\t")


_BETWEEN_CONTINUED = re.compile(
    r"(?<=\\\n)(?:[ \t]*\{(?:%[^\n]*%|#[^\n]*#|\{[^\n{}]*\})\}[ \t]*\n)+(?=([ \t]*)\S)"
)
"""Such lines, and how far the line below them is indented."""


def continued(text: Located) -> Located:
    """Let a command go on behind lines between its own that are only a template's (``{% if x %}``). What
    stands there may be left out, so that an unknown word takes their place."""

    def one_line(match: re.Match[str]) -> str:
        before = len(match[0]) - len(f"{DYNAMIC} ")
        return match[0] if before < len(match[1]) else " " * before + f"{DYNAMIC} "

    return Located(_BETWEEN_CONTINUED.sub(one_line, text.text), text.runs())


def plain_json(text: Located) -> Located:
    """Blank out what YAML doesn't take of JSON and of JSON with comments."""
    if _SURROGATE.search(text.text):
        text = blank(text, _SURROGATE, "x")
    if "//" in text.text or "/*" in text.text:
        kept = _STRING_OR_COMMENT.sub(
            lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text.text
        )
        text = Located(kept, text.runs())
    return blank(text, _TAB, " ") if "\t" in text.text else text


def plain_yaml(text: Located) -> Located:
    """Blank out the templates of a chart."""
    text = continued(text)
    if "{{" in text.text or "{%" in text.text:
        text = blank(text, _TEMPLATE_LINE, " ")
        text = blank(text, _TEMPLATE)
    return text
