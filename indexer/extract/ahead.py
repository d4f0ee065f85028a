"""What the extractors of a snapshot need of single files and of the call graph, read with all cores.

Every file is parsed once for all extractors together; then a release's code paths, which take as long
as everything else and need nothing of it, are followed in a process of their own. Both leave their results
in the user's cache of facts: where that or the process can't be had, nothing is lost but time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from indexer.extract.env_vars import ENV_USES
from indexer.extract.file_facts import RUNTIME, read_elsewhere
from indexer.extract.reads import FLAG_USES
from indexer.extract.replacements import REPLACEMENT_MESSAGES
from indexer.extract.rules import RULE_FACTS, rule_files
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph.attribute_reads import ATTRIBUTE_READS
from indexer.syntax.callgraph.facts import CALL_FACTS
from indexer.syntax.callgraph.load import callgraph_paths, load_symbols
from indexer.syntax.facts import Extractor, collect_each
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import OUTLINE
from indexer.workers import cores

_PACKAGES = Path(__file__).resolve().parents[2]
_PROGRAM = f"""import sys
sys.path.append({str(_PACKAGES)!r})
from {__name__} import main
main(sys.argv[1])"""
"""What the other process runs. It never looks for modules in the current folder, which may be anybody's."""


def read_files(tree: SourceTree, store: FactStore, code_paths: bool) -> None:
    """Put what the extractors need of each file into the cache; ``code_paths`` tells if they are wanted."""
    wanted: dict[str, list[Extractor]] = {}
    for path in tree.walk(RUNTIME):
        wanted[path] = [OUTLINE, ENV_USES, FLAG_USES, REPLACEMENT_MESSAGES]
    for path in read_elsewhere(tree):
        wanted[path] = [ENV_USES]
    for path in rule_files(tree):
        wanted.setdefault(path, []).append(RULE_FACTS)
    for path in callgraph_paths(tree) if code_paths else ():
        wanted.setdefault(path, []).extend((CALL_FACTS, ATTRIBUTE_READS))
    collect_each(tree, wanted, store)


@contextmanager
def code_paths_read_ahead(tree: SourceTree) -> Iterator[subprocess.Popen[bytes] | None]:
    """Follow the code paths of a release beside the block; wait for the yielded process to use them."""
    if tree.origin != "release" or cores() < 2:
        yield None
        return
    try:
        reader = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, tree.version],
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
    """Put the code paths of a release into the cache, then help to count its call sites."""
    from indexer.collector import collector_postponed
    from indexer.extract.code_paths import extract_code_paths
    from indexer.source.cache import cache_folder
    from indexer.source.release import open_release
    from indexer.syntax.callgraph.survey import help_survey

    tree, store = open_release(version), FactStore(cache_folder("facts"))
    symbols = cache(partial(load_symbols, tree, store))
    with collector_postponed():
        extract_code_paths(tree, store, symbols=symbols)
        help_survey(tree, store, symbols)
