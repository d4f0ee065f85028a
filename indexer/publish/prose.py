"""Help texts for a page: their first sentence, and plain paragraphs."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(])")
_LONGEST = 180


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, cut at a word when it is long."""
    flat = " ".join(text.split())
    sentence = _SENTENCE_END.split(flat, maxsplit=1)[0]
    if len(sentence) <= _LONGEST:
        return sentence
    return sentence[:_LONGEST].rsplit(" ", 1)[0] + "…"


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text (divided by empty lines), each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]
