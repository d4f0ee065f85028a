"""Getting a SGLang tree: package-index release, git, plain folder, installed package."""

from __future__ import annotations

from pathlib import Path

from indexer.errors import CannotError, UsageError
from indexer.source.tree import PACKAGE_ROOT, SourceTree

__all__ = ["SourceTree", "open_source"]

ARGUMENTS_FILE = f"{PACKAGE_ROOT}/srt/server_args.py"


def open_source(
    version: str | None = None,
    *,
    checkout: Path | None = None,
    rev: str | None = None,
    folder: Path | None = None,
    installed: bool = False,
    clone: str | None = None,
) -> SourceTree:
    """Return the tree that the user named, checked to be SGLang.

    With nothing but ``version`` it is a release from the package index (None: the default pin).
    ``checkout`` is a git work tree or bare repository, read at ``rev`` (None: HEAD); ``clone`` a
    repository address, of which only ``rev`` (a tag or branch) is fetched into the cache; ``folder`` a
    plain folder; ``installed`` the package in this Python's site-packages. For those ``version``
    overrides what the tree says of itself.

    Raises:
        UsageError: an impossible combination, an unknown version, a path or revision that is not there.
        CannotError: no network, a damaged or wrong file, or not a SGLang tree.
    """
    origins = [name for name, given in _given(checkout, folder, installed, clone) if given]
    if len(origins) > 1:
        raise UsageError(f"{' and '.join(origins)} exclude each other", "name one source")
    if rev is not None and not (checkout or clone):
        raise UsageError("--rev needs --checkout or --clone", "say which repository it is a revision of")
    tree = _open(version, checkout, rev, folder, installed, clone)
    _check(tree)
    return tree


def _given(*origins: object) -> list[tuple[str, object]]:
    return list(zip(("--checkout", "--folder", "--installed", "--clone"), origins, strict=True))


def _open(
    version: str | None,
    checkout: Path | None,
    rev: str | None,
    folder: Path | None,
    installed: bool,
    clone: str | None,
) -> SourceTree:
    # Imported here: GitPython and packaging are slow to load, and one call needs one of these.
    if checkout is not None:
        from indexer.source.git import open_checkout

        return open_checkout(checkout, rev, version)
    if clone is not None:
        from indexer.source.git import open_clone

        return open_clone(clone, rev, version)
    if folder is not None:
        from indexer.source.folder import open_folder

        return open_folder(folder, version)
    if installed:
        from indexer.source.folder import open_installed

        return open_installed(version)
    from indexer.source.release import open_release

    return open_release(version)


def _check(tree: SourceTree) -> None:
    if ARGUMENTS_FILE in tree:
        return
    what = "no server arguments" if next(tree.walk(), None) else "no python/sglang"
    raise CannotError(
        f"{tree.location} is not a SGLang tree that can be indexed: {what} ({ARGUMENTS_FILE} is missing)",
        "name the root of a SGLang checkout, or its python/sglang folder, of 0.4.1 or newer",
    )
