"""Facts of single files, extracted once per file content and kept in the user's cache.

An ``Extractor`` turns one file into one msgspec struct. ``collect`` runs extractors over a tree: what
the cache holds is read, the rest is parsed once (for all extractors together) in parallel processes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import msgspec
from tree_sitter import Tree

from indexer.collector import collector_paused
from indexer.extractor_version import file_facts_version
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore
from indexer.syntax.parse import parse
from indexer.workers import cores, end_with_parent

_PARALLEL_FROM_BYTES = 2_000_000
_CHUNK_BYTES = 600_000


FileFacts = dict[str, dict[str, bytes]]
"""Encoded facts by path and extractor key."""


@dataclass(frozen=True)
class Extractor:
    """One kind of per-file facts.

    ``run(path, source, tree)`` must be a module-level function (processes import it) and depend on
    nothing but the file. ``decided_by`` names what else than its module and ``indexer.syntax`` decides the
    facts: modules, or queries as ``queries/NAME.scm``. A file with none of ``hints`` in it has the facts
    ``empty`` and need not be parsed for them. ``both`` names an extractor whose facts come out of the same
    walk, and gives these facts and the other's.
    """

    name: str
    run: Callable[[str, bytes, Tree], msgspec.Struct]
    result: type[msgspec.Struct]
    empty: msgspec.Struct | None = None
    hints: tuple[bytes, ...] = ()
    both: tuple[Extractor, Callable[[str, bytes, Tree], tuple[msgspec.Struct, msgspec.Struct]]] | None = None
    decided_by: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """What the facts are kept under; it changes with the code that reads them."""
        return f"{self.name}-{file_facts_version(self.run.__module__, self.decided_by)}"


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
    found: FileFacts = {}
    keys: dict[tuple[str, str], bytes] = {}
    paths = list(wanted)
    with _Workers(jobs or cores()) as workers:
        for group in (paths[start : start + _GROUP] for start in range(0, len(paths), _GROUP)):
            read = cache(tree.read)  # a file is hashed and then extracted from
            todo: list[_Task] = []
            hashes = store.blob_hashes(tree, group, read) if store else {}
            for path in hashes:
                keys |= {(path, one.key): FactStore.key(path, hashes[path], one.key) for one in wanted[path]}
            held = store.load(keys[path, one.key] for path in hashes for one in wanted[path]) if store else {}
            for path in group:
                facts = {one.key: held.get(keys.get((path, one.key), b"")) for one in wanted[path]}
                found[path] = {key: raw for key, raw in facts.items() if raw is not None}
                missing = tuple(one for one in wanted[path] if one.key not in found[path])
                if missing:
                    todo.append((path, read(path), missing))
            workers.add(todo)
        for chunk in workers.results():
            for path, new in chunk:
                found[path].update(new)
            if store:  # while the other processes go on
                store.save({keys[path, key]: raw for path, new in chunk for key, raw in new.items()})
    return found


_GROUP = 50
"""Files that are looked up together; those that follow are looked up while their facts are extracted."""

_Task = tuple[str, bytes, tuple[Extractor, ...]]
_Extracted = list[tuple[str, dict[str, bytes]]]


class _Workers:
    """Processes that extract facts, begun as soon as there is enough for more than one to do."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._waiting: list[_Task] = []
        self._begun: list[Future[_Extracted]] = []
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, tasks: list[_Task]) -> None:
        """Take files to extract facts from."""
        self._waiting += tasks
        size = sum(len(source) for _, source, _ in self._waiting)
        if self._jobs > 1 and size >= (_CHUNK_BYTES if self._pool else _PARALLEL_FROM_BYTES):
            self._send()

    def results(self) -> Iterator[_Extracted]:
        """Yield the facts of all files, those that are ready first."""
        if self._pool is None:
            yield _run_chunk(self._waiting)
            return
        self._send()
        for done in as_completed(self._begun):
            yield done.result()

    def _send(self) -> None:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._jobs, mp_context=_context(), initializer=end_with_parent)
        self._begun += [self._pool.submit(_run_chunk, chunk) for chunk in _chunks(self._waiting)]
        self._waiting = []


def _run_chunk(chunk: list[_Task]) -> _Extracted:
    with collector_paused():
        return [(path, extract_file(path, source, extractors)) for path, source, extractors in chunk]


def _chunks(tasks: list[_Task]) -> Iterator[list[_Task]]:
    """Yield the files in chunks of a size that keeps the last process to end from working alone for long."""
    chunk: list[_Task] = []
    size = 0
    for task in tasks:
        chunk.append(task)
        size += len(task[1])
        if size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _context() -> Any:
    import multiprocessing

    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
