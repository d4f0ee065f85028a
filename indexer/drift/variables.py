"""Environment variables that are gone, judged once for ``drift``, ``check`` and ``check --upgrade``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from indexer.knowledge.facts import EnvFact, Facts
from indexer.knowledge.renames import FoundRename, named_options
from indexer.knowledge.schema import Location

_SHORT, _LONG = "SGL_", "SGLANG_"


class Heir(NamedTuple):
    """What to use instead of a variable: ``text`` as it is to be written, ``at`` where that is declared, and
    ``said`` where a message of a release says so (``path:line of 0.5.18``)."""

    text: str
    at: Location | None
    said: str | None

    @property
    def told(self) -> str:
        """The end of a message about the variable."""
        return f", use {self.text}" + (f" (said at {self.said})" if self.said else "")


def _longer(name: str) -> str:
    """Return the name that SGLang's short prefix stands for: releases that know the longer one read it so."""
    return _LONG + name.removeprefix(_SHORT) if name.startswith(_SHORT) else ""


def gone(name: str, heir: Heir | None, still: EnvFact | None = None) -> str:
    """Say that a variable is gone, what to use instead, and what a version does about it ``still``."""
    renamed = heir is not None and heir.text == _longer(name)
    refused = still is not None and still.notice == "error"
    how = " under this name" if renamed else "" if refused else ": setting it has no effect"
    return f"{name} is gone{how}{heir.told if heir else ''}{noticed(still)}"


def noticed(variable: EnvFact | None) -> str:
    """Say what a version still does about a variable that is gone, as the end of a message."""
    if variable is None or variable.notice is None:
        return ""
    at = f" ({variable.read_at.path}:{variable.read_at.line})" if variable.read_at else ""
    return (
        f"; SGLang raises where it is set{at}" if variable.notice == "error" else f"; a warning says so{at}"
    )


def heirs(
    replacements: Mapping[str, str], renames: Iterable[FoundRename], old: Facts, new: Facts
) -> dict[str, Heir]:
    """Return what replaces each variable of ``old`` in ``new``, as far as ``replacements`` name it."""
    said = {
        rename.old: f"{rename.new_at.path}:{rename.new_at.line} of {rename.since}"
        for rename in renames
        if rename.kind == "env" and rename.how == "message" and rename.new_at and rename.since
    }
    variables = {one.name: one for one in new.env_vars if one.is_setting}
    options = new.option_to_flag()
    found = {}
    for name in (one.name for one in old.env_vars):
        text = replacements.get(name) or _longer(name)
        if text not in variables and name not in replacements:
            continue
        variable = variables.get(text.removesuffix(" (likely)"))
        flag = next((options[one] for one in named_options(text) if one in options), None)
        at = variable.declared_at or variable.read_at if variable else flag.declared_at if flag else None
        found[name] = Heir(text, at, said.get(name))
    return found
