"""Message templates: literal text with ``{expression}`` or ``%s`` where run time fills in a value."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\{([^{}]*)\}|%[-+ #0]*\d*(?:\.\d+)?[sdifrxeg]")
"""A value's place in a template; the group is the expression, None for a ``%s``."""


def template_key(template: str) -> str:
    """Return a template without what is filled in: equal for the same message of any release."""
    return " ".join(PLACEHOLDER.sub("{}", template).split())
