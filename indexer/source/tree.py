"""One face for every origin of a SGLang source tree.

Paths are repo-relative with forward slashes (``python/sglang/srt/server_args.py``), whatever the
origin: a wheel holds ``sglang/...``, a checkout ``python/sglang/...``.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

PACKAGE_ROOT = "python/sglang"
"""Where the package lives in the repository."""

MAX_FILE_BYTES = 16 * 1024 * 1024
"""A larger source file is refused: the largest of SGLang's own is under 1 MiB."""


def content_hash(content: bytes) -> str:
    """Return the hash by which every per-file cache knows a file's content."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


class SourceTree(ABC):
    """A read-only SGLang tree.

    ``version`` is the SGLang version (``0.5.23``) or, for a tree that states none, a short revision.
    ``origin`` is one of ``release``, ``git``, ``folder``, ``installed``. ``artifact`` and ``sha256``
    are a release's wheel; ``commit`` and ``dirty`` a checkout's state (dirty: the work tree differs
    from what is read). ``permalink_base`` plus a path is a permalink without its line. ``pinned`` tells
    that the tree is known by its hash; any other may hold anybody's code.
    """

    version: str
    origin: str
    artifact: str | None = None
    sha256: str | None = None
    commit: str | None = None
    dirty: bool = False
    permalink_base: str | None = None
    pinned: bool = False

    @property
    def location(self) -> str:
        """Where the tree lies, for messages: a file, a folder, a repository at a commit."""
        return f"{self.origin} {self.version}"

    @abstractmethod
    def paths(self) -> tuple[str, ...]:
        """Return all Python source paths of the tree (repo-relative), sorted."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            FileNotFoundError: the tree has no such file.
            CannotError: the file is there but can't be read safely (too large, a link).
        """

    @abstractmethod
    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        """Return a web address of the line that never moves, or None where there is none."""

    def __contains__(self, path: str) -> bool:
        return path in self._path_set

    @cached_property
    def _path_set(self) -> frozenset[str]:
        return frozenset(self.paths())

    def blob_hash(self, path: str) -> str:
        """Return a content hash of the file, the key of every per-file cache."""
        return content_hash(self.read(path))

    def quick_id(self, path: str) -> str | None:
        """Return a cheap identity of the file's content (no reading), or None where there is none."""
        return None

    def text(self, path: str) -> str:
        """Return the file decoded as Python would (UTF-8, or as its coding line says).

        Raises:
            CannotError: the bytes are not text in the declared encoding.
        """
        import io
        import tokenize

        from indexer.errors import CannotError

        raw = self.read(path)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise CannotError(f"{path}: not readable as Python source ({error})") from error

    def walk(self, prefix: str = PACKAGE_ROOT) -> Iterator[str]:
        """Yield the paths below ``prefix``."""
        stem = prefix.rstrip("/") + "/"
        return (path for path in self.paths() if path.startswith(stem))

    def metadata(self) -> str | None:
        """Return the distribution metadata (``METADATA`` or ``pyproject.toml`` text), if there."""
        return None
