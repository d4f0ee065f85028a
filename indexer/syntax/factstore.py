"""The user's cache of per-file facts: one SQLite file, keyed by file content and extractor version."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

from indexer.progress import tell
from indexer.source.tree import SourceTree, content_hash

_SCHEMA = """
CREATE TABLE IF NOT EXISTS file_facts (key BLOB PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS blobs (quick TEXT PRIMARY KEY, hash TEXT NOT NULL) WITHOUT ROWID;
"""
# Facts are kilobytes each and their keys random: in a table with row numbers they are appended, and only an
# index of the keys is kept in order, which takes a third of the time.
_PAGE_BYTES = 16384
_BATCH = 500
_MOST_BYTES = 2 * 1024**3
"""A release takes some 90 MB; most of what is older was read by earlier versions of this program."""
_LOCK_SECONDS = 30


class FactStore:
    """Encoded facts on disk. SQLite makes writes atomic and lets several builds share the file.

    The cache is a convenience: a damaged file is thrown away and built again, an unwritable folder
    means nothing is kept. Either is told, one line each, which ``problems`` holds too.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "facts.sqlite"
        self.problems: list[str] = []
        self._db = self._open()

    def _open(self) -> sqlite3.Connection | None:
        for attempt in (1, 2):
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                db = sqlite3.connect(self.file, timeout=_LOCK_SECONDS)
                db.execute(f"PRAGMA page_size={_PAGE_BYTES}")
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=NORMAL")
                db.executescript(_SCHEMA)
                _drop_oldest(db)
                return db
            except sqlite3.OperationalError as error:
                self._problem(f"the cache {self.file} can't be used, nothing is kept ({error})")
                return None
            except sqlite3.DatabaseError as error:
                self._problem(f"the cache {self.file} was damaged and is built again ({error})")
                self._discard()
                if attempt == 2:
                    return None
            except OSError as error:
                self._problem(f"the cache folder {self.file.parent} can't be made ({error})")
                return None
        return None

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.file}{suffix}").unlink(missing_ok=True)

    def _problem(self, text: str) -> None:
        self.problems.append(text)
        tell(text)

    @staticmethod
    def key(path: str, blob_hash: str, extractor: str) -> bytes:
        """Return the key of a file's facts. The path counts: module names depend on it."""
        return hashlib.blake2b(f"{path}\0{blob_hash}\0{extractor}".encode(), digest_size=20).digest()

    def load(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return what is held of ``keys``."""
        return dict(self._select("file_facts", "key", "value", list(keys)))

    def blob_hashes(
        self, tree: SourceTree, paths: Iterable[str], read: Callable[[str], bytes] | None = None
    ) -> dict[str, str]:
        """Return the content hash of every path, without reading files whose hash is remembered.

        A tree that knows a cheap identity of a file (a wheel's CRC and size) is read only once. ``read``
        is the tree's own unless somebody keeps what it gives.
        """
        read = read or tree.read
        quick = {path: tree.quick_id(path) for path in paths}
        ids = {f"{path}\0{one}": path for path, one in quick.items() if one}
        known = {ids[one]: blob for one, blob in self._select("blobs", "quick", "hash", list(ids))}
        fresh = {path: content_hash(read(path)) for path in quick if path not in known}
        self._write("blobs", [(one, fresh[path]) for one, path in ids.items() if path in fresh])
        return {**known, **fresh}

    def close(self) -> None:
        """Finish writing; nothing is kept afterwards."""
        if self._db:
            self._db.close()
            self._db = None

    def save(self, entries: dict[bytes, bytes]) -> None:
        """Keep facts by key, all of them or none."""
        self._write("file_facts", list(entries.items()))

    def claim(self, key: bytes) -> bool:
        """Return whether a key was free and is now held, empty, for who asked: one of several processes.

        False where nothing is kept.
        """
        if not self._db:
            return False
        try:
            with self._db:
                added = self._db.execute("INSERT OR IGNORE INTO file_facts VALUES (?, ?)", (key, b""))
                return added.rowcount == 1
        except sqlite3.DatabaseError as error:
            self._recover(error)
            return False

    def _select(self, table: str, key: str, value: str, keys: list) -> list[tuple]:
        rows: list[tuple] = []
        try:
            for start in range(0, len(keys) if self._db else 0, _BATCH):
                batch = keys[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                sql = f"SELECT {key}, {value} FROM {table} WHERE {key} IN ({marks})"
                rows.extend(self._db.execute(sql, batch))  # type: ignore[union-attr]
        except sqlite3.DatabaseError as error:
            self._recover(error)
            return []
        return rows

    def _write(self, table: str, rows: list[tuple]) -> None:
        if not self._db or not rows:
            return
        try:
            with self._db:
                self._db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", rows)
        except sqlite3.DatabaseError as error:
            self._recover(error)

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        if isinstance(error, sqlite3.OperationalError):
            self._problem(f"the cache {self.file} can't be used, nothing is kept ({error})")
            self._db = None
            return
        if self._db:
            self._db.close()
        self._problem(f"the cache {self.file} was damaged and is built again ({error})")
        self._discard()
        self._db = self._open()


def _drop_oldest(db: sqlite3.Connection) -> None:
    """Drop the facts read first where all take more room than is good; it is used again."""
    if _used_bytes(db) <= _MOST_BYTES:
        return
    with db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("DROP TABLE IF EXISTS facts")  # an earlier layout's
        if _used_bytes(db) > _MOST_BYTES:  # no other process was quicker
            db.execute(
                "DELETE FROM file_facts WHERE rowid IN "
                "(SELECT rowid FROM file_facts ORDER BY rowid LIMIT (SELECT count(*) / 2 FROM file_facts))"
            )


def _used_bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
