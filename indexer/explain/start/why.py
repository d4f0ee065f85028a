"""Why something that a starting server makes isn't known, in words."""

from __future__ import annotations

import re

from indexer.interpret.running import innermost_frame
from indexer.interpret.signals import Signal
from indexer.interpret.unknown import Unknown

_LACKS = re.compile(r"'(\w*Config)' object has no attribute '(\w+)'")
_LONGEST = 200


def why(error: BaseException) -> str:
    """Return what stopped us: where a configuration lacks something, what would say it."""
    frame = innermost_frame(error)
    where = f" ({frame[0].removeprefix('python/')}:{frame[1]})" if frame else ""
    lacks = _LACKS.search(str(error)) if isinstance(error, AttributeError) else None
    if lacks:
        owner, key = lacks.groups()
        return (
            f"the model's configuration says no {key}, which is asked of {owner}{where}: "
            f"a config.json with {key} decides (--model DIR gives its folder)"
        )
    said = str(error) if isinstance(error, Signal) else f"{type(error).__name__}: {message(error)}"
    return said[:_LONGEST] + where


def message(error: BaseException) -> str:
    """Return an error's text, also where a part of it isn't known."""
    said = error.args[0] if error.args else ""
    return said._rt_text if type(said) is Unknown else str(error)
