"""The symbols of a tree, through the per-file cache of facts."""

from __future__ import annotations

import hashlib
from functools import cache, partial

import msgspec

from indexer.collector import collector_postponed
from indexer.extractor_version import callgraph_version
from indexer.source.tree import PACKAGE_ROOT, SourceTree
from indexer.syntax.callgraph.attribute_reads import ATTRIBUTE_READS, AttributeReads, Read
from indexer.syntax.callgraph.facts import CALL_FACTS, FileFacts
from indexer.syntax.callgraph.symbols import Symbols
from indexer.syntax.facts import collect
from indexer.syntax.factstore import FactStore

PREFIXES = tuple(f"{PACKAGE_ROOT}/{folder}" for folder in ("srt", "kernels", "jit_kernel"))
"""Where the server's code lies: the runtime and its kernels (one of the two folders, by release)."""


def callgraph_paths(tree: SourceTree) -> list[str]:
    """Return the files that the call graph reads."""
    return [path for prefix in PREFIXES for path in tree.walk(prefix)]


def whole_tree_key(tree: SourceTree, store: FactStore, kind: str, settings: bytes = b"") -> bytes:
    """Return the key of a result of a whole tree: the content of all files, our code, and ``settings``.

    Of a release the wheel's own hash says the content, and no file need be read for it.
    """
    digest = hashlib.blake2b(f"{kind}\0{callgraph_version()}\0{tree.sha256}".encode(), digest_size=20)
    digest.update(settings)
    paths = callgraph_paths(tree)
    blobs = dict.fromkeys(paths, "") if tree.sha256 is not None else store.blob_hashes(tree, paths)
    for path, blob in sorted(blobs.items()):
        digest.update(f"\0{path}\0{blob}".encode())
    return digest.digest()


def load_symbols(tree: SourceTree, store: FactStore | None = None, jobs: int | None = None) -> Symbols:
    """Return the modules, classes and functions of a tree with the facts of their bodies."""
    with collector_postponed():
        facts = collect(tree, callgraph_paths(tree), [CALL_FACTS], store, jobs)
        decoder = msgspec.msgpack.Decoder(FileFacts)
        symbols = Symbols((path, decoder.decode(found[CALL_FACTS.key])) for path, found in facts.items())
    for module in symbols.modules.values():
        module.attribute_reads = cache(partial(_attribute_reads, tree, store, module.path))
    return symbols


def _attribute_reads(tree: SourceTree, store: FactStore | None, path: str) -> list[list[Read]]:
    found = collect(tree, [path], [ATTRIBUTE_READS], store, jobs=1)[path][ATTRIBUTE_READS.key]
    return msgspec.msgpack.decode(found, type=AttributeReads).scopes
