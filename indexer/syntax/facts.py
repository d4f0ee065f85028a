"""Facts of single files, extracted once per file content and kept in the user's cache.

An ``Extractor`` turns one file into one msgspec struct. ``collect`` runs extractors over a tree: what
the cache holds is read, the rest is parsed once (for all extractors together) in parallel processes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from tree_sitter import Tree

from indexer.collector import collector_paused
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore
from indexer.syntax.parse import parse
from indexer.workers import end_with_parent

_PARALLEL_FROM_BYTES = 2_000_000
_CHUNK_BYTES = 600_000


FileFacts = dict[str, dict[str, bytes]]
"""Encoded facts by path and extractor key."""


@dataclass(frozen=True)
class Extractor:
    """One kind of per-file facts.

    ``run(path, source, tree)`` must be a module-level function (processes import it) and depend on
    nothing but the file. ``version`` is raised whenever it gives something else for the same file.
    A file with none of ``hints`` in it has the facts ``empty`` and need not be parsed for them. ``both``
    names an extractor whose facts come out of the same walk, and gives these facts and the other's.
    """

    name: str
    version: int
    run: Callable[[str, bytes, Tree], msgspec.Struct]
    result: type[msgspec.Struct]
    empty: msgspec.Struct | None = None
    hints: tuple[bytes, ...] = ()
    both: tuple[Extractor, Callable[[str, bytes, Tree], tuple[msgspec.Struct, msgspec.Struct]]] | None = None

    @property
    def key(self) -> str:
        return f"{self.name}-{self.version}"


def extract_file(path: str, source: bytes, extractors: Sequence[Extractor]) -> dict[str, bytes]:
    """Return the encoded facts of one file by extractor key; the file is parsed once."""
    found: dict[str, msgspec.Struct] = {}
    tree: Tree | None = None
    for one in sorted(extractors, key=lambda one: one.both is None):
        if one.key in found:
            continue
        if one.empty is not None and not any(hint in source for hint in one.hints):
            found[one.key] = one.empty
            continue
        tree = tree or parse(source)
        if one.both is not None and one.both[0] in extractors:
            found[one.key], found[one.both[0].key] = one.both[1](path, source, tree)
        else:
            found[one.key] = one.run(path, source, tree)
    return {one.key: msgspec.msgpack.encode(found[one.key]) for one in extractors}


def collect(
    tree: SourceTree,
    paths: Iterable[str],
    extractors: Sequence[Extractor],
    store: FactStore | None = None,
    jobs: int | None = None,
) -> FileFacts:
    """Return the encoded facts of every path, by path and extractor key.

    ``jobs`` is the number of processes (default: the machine's cores). Decode a result with
    ``msgspec.msgpack.decode(raw, type=extractor.result)``.
    """
    return collect_each(tree, dict.fromkeys(paths, tuple(extractors)), store, jobs)


def collect_each(
    tree: SourceTree,
    wanted: Mapping[str, Sequence[Extractor]],
    store: FactStore | None = None,
    jobs: int | None = None,
) -> FileFacts:
    """Return what ``collect`` does, where each path has extractors of its own."""
    read = cache(tree.read)  # a file is hashed and then extracted from
    hashes = store.blob_hashes(tree, wanted, read) if store else {}
    keys = {
        (path, one.key): FactStore.key(path, hashes[path], one.key)
        for path, extractors in wanted.items()
        for one in (extractors if path in hashes else ())
    }
    held = store.load(keys.values()) if store else {}
    found: FileFacts = {}
    todo: list[_Task] = []
    for path, extractors in wanted.items():
        facts = {one.key: held.get(keys.get((path, one.key), b"")) for one in extractors}
        found[path] = {key: raw for key, raw in facts.items() if raw is not None}
        missing = tuple(one for one in extractors if one.key not in found[path])
        if missing:
            todo.append((path, read(path), missing))
    for chunk in _run(todo, jobs or os.cpu_count() or 1):
        for path, new in chunk:
            found[path].update(new)
        if store:  # while the other processes go on
            store.save({keys[path, key]: raw for path, new in chunk for key, raw in new.items()})
    return found


_Task = tuple[str, bytes, tuple[Extractor, ...]]


def _run(todo: list[_Task], jobs: int) -> Iterator[list[tuple[str, dict[str, bytes]]]]:
    if jobs < 2 or sum(len(source) for _, source, _ in todo) < _PARALLEL_FROM_BYTES:
        yield _run_chunk(todo)
        return
    with ProcessPoolExecutor(jobs, mp_context=_context(), initializer=end_with_parent) as pool:
        yield from pool.map(_run_chunk, _chunks(todo))


def _run_chunk(chunk: list[_Task]) -> list[tuple[str, dict[str, bytes]]]:
    with collector_paused():
        return [(path, extract_file(path, source, extractors)) for path, source, extractors in chunk]


def _chunks(todo: list[_Task]) -> list[list[_Task]]:
    """Group the files, large ones first, so that no process is left with a long tail."""
    chunks: list[list[_Task]] = []
    size = _CHUNK_BYTES
    for task in sorted(todo, key=lambda item: -len(item[1])):
        if size >= _CHUNK_BYTES:
            chunks.append([])
            size = 0
        chunks[-1].append(task)
        size += len(task[1])
    return chunks


def _context() -> Any:
    import multiprocessing

    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
