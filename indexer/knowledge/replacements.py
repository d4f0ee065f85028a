"""Reading out of a message which option it says to use instead of which."""

from __future__ import annotations

import re
from collections.abc import Container

_LONG_OPTION = re.compile(r"--[a-z][\w-]*[a-z0-9]")
_SAYS_GONE = re.compile(r"deprecat|renamed|removed|no longer|replaced", re.IGNORECASE)
_SAYS_USE = re.compile(r"\buse\b|\binstead\b|replaced (?:by|with)|renamed to|in favou?r of", re.IGNORECASE)


def stated_replacement(message: str, known: Container[str]) -> tuple[str, str] | None:
    """Return the (old, new) option strings of a message that says one gave way to the other.

    Only a message that says so in words counts, and only if ``known`` holds the new one.
    """
    if not _SAYS_GONE.search(message):
        return None
    names = list(dict.fromkeys(_LONG_OPTION.findall(message)))
    use = _SAYS_USE.search(message)
    if len(names) != 2 or use is None:
        return None
    after_use = _LONG_OPTION.search(message, use.end())
    if after_use is None or after_use[0] not in known:
        return None
    old = next(name for name in names if name != after_use[0])
    return old, after_use[0]
