"""Short names for the code that makes cached things, so that caches notice when it changes.

They are derived from the sources themselves: nobody has to remember to raise a number.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from indexer._resources import data_path

_PACKAGE = Path(__file__).parent


@cache
def extractor_version() -> str:
    """Return a digest of everything that decides what a snapshot holds: code, queries, schema."""
    files = [_PACKAGE / "knowledge" / "schema.py", *data_path("queries").glob("*")]
    return _digest(files, "source", "syntax", "interpret", "extract")


@cache
def callgraph_version() -> str:
    """Return a digest of everything that decides the call graph and the code paths grown in it."""
    read = [data_path("queries") / name for name in ("callgraph.scm", "attribute_reads.scm")]
    return _digest([*read, *(_PACKAGE / "syntax").glob("*.py")], "syntax/callgraph", "extract/code_paths")


@cache
def file_facts_version(module: str, others: tuple[str, ...] = ()) -> str:
    """Return a digest of everything that decides what ``module`` reads of a single file.

    That is the module, everything in ``syntax`` itself, and ``others``: further modules, or queries as
    ``queries/NAME.scm``.
    """
    modules = [one for one in (module, *others) if not one.endswith(".scm")]
    files = [_PACKAGE.joinpath(*one.split(".")[1:]).with_suffix(".py") for one in modules]
    files += [data_path("queries") / Path(one).name for one in others if one.endswith(".scm")]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise FileNotFoundError(f"{', '.join(missing)}: named as deciding facts, but not there")
    return _digest(list({*files, *(_PACKAGE / "syntax").glob("*.py")}))


@cache
def followed_version() -> str:
    """Return a digest of everything that decides which facts are followed through the releases."""
    facts = hashlib.blake2b((_PACKAGE / "knowledge" / "facts.py").read_bytes(), digest_size=3).hexdigest()
    return extractor_version() + facts


@cache
def rules_version() -> str:
    """Return a digest of everything that decides what the rules of a release are."""
    files = [_PACKAGE / "knowledge" / "schema.py", *data_path("queries").glob("*")]
    return _digest(files, "source", "syntax", "extract/rules", "extract/algorithms")


@cache
def search_version() -> str:
    """Return a digest of everything that decides what a search index holds, and what is kept beside it."""
    return _digest([_PACKAGE / "data" / "history.json"], "search", "knowledge")


@cache
def compiler_version() -> str:
    """Return a digest of everything that decides what interpreted modules are compiled to."""
    folder = _PACKAGE / "interpret"
    return _digest([folder / "compiled.py", folder / "rewrite.py"])


@cache
def rule_places_version() -> str:
    """Return a digest of everything that decides what an explanation takes from a snapshot."""
    return extractor_version() + _digest([_PACKAGE / "explain" / "annotate.py"], "knowledge")


@cache
def verdict_version() -> str:
    """Return a digest of everything that decides what ``check`` concludes from explanations."""
    files = [_PACKAGE / "extract" / "encoded.py", _PACKAGE / "knowledge" / "schema.py"]
    return _digest(files, "source", "interpret", "explain", "drift/lint")


def _digest(files: list[Path], *folders: str) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for folder in folders:
        files += (_PACKAGE / folder).rglob("*.py")
    for file in sorted(file for file in files if file.is_file()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
