"""Reading a release's code paths in a process of their own, while the other facts are read here.

They take as long as everything else together and need nothing of it. The result comes back through
the user's cache of facts; where the process can't be had or fails, nothing is lost but time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from indexer.source.tree import SourceTree

_MODULE = "indexer.extract.ahead"


@contextmanager
def code_paths_read_ahead(tree: SourceTree) -> Iterator[subprocess.Popen[bytes] | None]:
    """Read the code paths of a release beside the block; wait for the yielded process to use them."""
    if tree.origin != "release" or (os.cpu_count() or 1) < 2:
        yield None
        return
    try:
        reader = subprocess.Popen(
            [sys.executable, "-m", _MODULE, tree.version],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        yield None
        return
    try:
        yield reader
    finally:
        if reader.poll() is None:
            reader.terminate()
        reader.wait()


def main(version: str) -> None:
    """Put the code paths and the survey of call sites of a release into the cache."""
    from indexer.extract.code_paths import extract_code_paths
    from indexer.source.cache import cache_folder
    from indexer.source.release import open_release
    from indexer.syntax.callgraph.survey import survey
    from indexer.syntax.factstore import FactStore

    tree = open_release(version)
    store = FactStore(cache_folder("facts"))
    extract_code_paths(tree, store)
    survey(tree, store)


if __name__ == "__main__":
    main(sys.argv[1])
