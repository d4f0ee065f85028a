"""YAML and JSON without what their parser would stumble over; everything keeps its place."""

from __future__ import annotations

import re

from indexer.drift.launch.located import Located, blank

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TEMPLATE_LINE = re.compile(r"^[ \t]*(?:\{\{[^{}]*\}\}|\{%.*?%\})[ \t]*$", re.MULTILINE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TAB = re.compile(r"\t")


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
    if "{{" in text.text or "{%" in text.text:
        text = blank(text, _TEMPLATE_LINE, " ")
        text = blank(text, _TEMPLATE)
    return text
