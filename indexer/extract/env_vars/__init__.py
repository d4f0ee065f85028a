"""Environment variables: declared or only read, with defaults, readers, writers, old names."""

from __future__ import annotations

import ast

import msgspec

from indexer.extract.env_vars.declarations import declared
from indexer.extract.env_vars.uses import ENV_USES, EnvUse, EnvUses
from indexer.extract.file_facts import load_facts
from indexer.knowledge.schema import EnvVar, Location, Read
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.graph import ModuleGraph

__all__ = ["ENV_USES", "extract_env_vars"]

_SPECULATION_PATHS = (
    "/speculative/",
    "spec_",
    "draft",
    "eagle",
    "dflash",
    "dspark",
    "_mtp",
    "nextn",
    "ngram",
)
_HYBRID_PATHS = ("mamba", "linear", "/fla/", "gdn", "kda", "lightning", "hybrid", "memory_pool")
_DECLARING = f"{PACKAGE_ROOT}/srt/environ.py"


def extract_env_vars(graph: ModuleGraph, facts: dict[str, dict[str, bytes]] | None = None) -> list[EnvVar]:
    """Return every environment variable the tree declares or reads, declared ones first.

    ``relevance`` says for what it matters, told by its readers: ``speculation``, ``hybrid``.
    ``facts`` are the files' uses where they are at hand (``load_facts``).
    """
    facts = facts or load_facts(graph, (ENV_USES,))
    found = declared(graph)
    raw: dict[str, EnvVar] = {}
    notices: dict[str, set[str | None]] = {}
    for path in sorted(facts):
        for use in msgspec.msgpack.decode(facts[path][ENV_USES.key], type=EnvUses).uses:
            variable = found.get(use.name) or raw.setdefault(use.name, EnvVar(use.name))
            _add(variable, use, path)
            notices.setdefault(use.name, set()).add(use.notice)
    for variable in (*found.values(), *raw.values()):
        said = notices.get(variable.name, {None})
        if variable.declared_at is None and None not in said:
            variable.notice = "error" if "error" in said else "warning"
    return [*found.values(), *(raw[name] for name in sorted(raw))]


def _add(variable: EnvVar, use: EnvUse, path: str) -> None:
    place = Read(Location(path, use.line, symbol=use.symbol), use.how)
    if use.written:
        variable.set_at.append(place)
        return
    if path == _DECLARING and use.how == "value":
        return
    variable.read_at.append(place)
    if variable.declared_at is None and variable.default is None and use.default is not None:
        variable.default = _raw_default(use.default)
    for subject in _subjects(use, path):
        if subject not in variable.relevance:
            variable.relevance.append(subject)


def _raw_default(written: str) -> object:
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return {"repr": " ".join(written.split())}
    return value if isinstance(value, (str, int, float, bool, type(None))) else {"repr": written}


def _subjects(use: EnvUse, path: str) -> list[str]:
    subjects = list(use.context)
    if any(part in path for part in _SPECULATION_PATHS) and "speculation" not in subjects:
        subjects.append("speculation")
    if any(part in path for part in _HYBRID_PATHS) and "hybrid" not in subjects:
        subjects.append("hybrid")
    return subjects
