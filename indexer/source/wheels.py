"""Wheels: fetched once with the user's pip, checked, kept in the cache, read without unpacking."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import CannotError, UsageError
from indexer.source.cache import cache_folder, exclusive
from indexer.source.packages import package
from indexer.source.tree import MAX_FILE_BYTES, SourceTree
from indexer.source.wheel_index import WheelIndex, read_index, state_of, write_index

if TYPE_CHECKING:
    import zipfile

# Modules that read archives are imported where one is opened: a wheel that is remembered seldom is.

MAX_MEMBERS = 200_000

_NUMBER = r"(?:0|[1-9][0-9]*)"
_NORMAL = re.compile(rf"{_NUMBER}(?:\.{_NUMBER})*(?:\.post{_NUMBER})?")
"""Versions that are in their normal spelling already, whatever else there may be."""


def normal_version(text: str) -> str:
    """Return a release version in its normal spelling (``v0.5.23`` → ``0.5.23``).

    Raises:
        UsageError: the text is no version.
    """
    if _NORMAL.fullmatch(text):
        return text
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(text))
    except InvalidVersion:
        raise UsageError(f"{text!r} is not a version", "write it like 0.5.23") from None


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def cached_wheel(name: str, version: str) -> Path | None:
    """Return the cached wheel of ``name==version``, unchecked, or None."""
    stem = f"{name.replace('-', '_')}-{version}-"
    found = sorted(p for p in cache_folder("wheels").glob(stem + "*.whl") if p.is_file())
    return found[0] if found else None


def fetch_wheel(name: str, version: str, *, sha256: str | None = None) -> Path:
    """Return the path of a checked wheel, downloading it into the cache if it is not there.

    Without ``sha256`` the check is structural: a whole zip that states its name and version. A cached
    file that fails its check is replaced. Two processes asking at once download once.

    Raises:
        UsageError: the version is malformed or was never released.
        CannotError: no pip or network, or what was downloaded fails the check.
    """
    version = normal_version(version)
    wheel = cached_wheel(name, version)
    if wheel and _defect(wheel, sha256) is None:
        return wheel
    folder = cache_folder("wheels")
    with exclusive(folder / f".{name}-{version}"):
        wheel = cached_wheel(name, version)
        defect = _defect(wheel, sha256) if wheel else None
        if wheel and defect is None:
            return wheel
        return _download(name, version, sha256, folder, wheel, defect)


def _download(
    name: str, version: str, sha256: str | None, folder: Path, damaged: Path | None, defect: str | None
) -> Path:
    import shutil
    import tempfile

    from indexer.progress import busy
    from indexer.source import pip

    prefix = f".download-{name}-{version}-"
    # We hold the lock, so what lies here was left by a process that was killed.
    for leftover in folder.glob(prefix + "*"):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        with (
            tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as scratch,
            busy(f"Fetching {name} {version}"),
        ):
            fresh = pip.download(name, version, Path(scratch))
            if (problem := _defect(fresh, sha256)) is not None:
                raise CannotError(f"{fresh.name} as downloaded {problem}", _DEFECT_FIX)
            target = folder / fresh.name
            fresh.replace(target)
    except OSError as error:
        raise CannotError(
            f"{name} {version} could not be stored in {folder} ({error.strerror or error})",
            "free some space there",
        ) from error
    except (CannotError, UsageError) as error:
        if damaged is None:
            raise
        raise CannotError(f"{damaged.name} in the cache {defect}, and {error.message}", error.fix) from error
    if damaged is not None and damaged != target:
        damaged.unlink(missing_ok=True)
    return target


_NO_METADATA = "has no METADATA"
_DEFECT_FIX = (
    "try again; if it stays, the index or mirror serves another file than the pinned one "
    "(compare it, then `indexer pin VERSION` records the new hash)"
)


def _defect(wheel: Path, sha256: str | None) -> str | None:
    """Return what is wrong with a wheel file, or None."""
    index = read_index(wheel)
    if sha256 is not None:
        actual = index.sha256 if index else file_sha256(wheel)
        return None if actual == sha256 else f"has sha256 {actual}, pinned is {sha256}"
    if index is not None:
        return None if index.metadata is not None else _NO_METADATA
    import zipfile

    try:
        with zipfile.ZipFile(wheel) as archive:
            whole = any(name.endswith(".dist-info/METADATA") for name in archive.namelist())
            return None if whole else _NO_METADATA
    except (zipfile.BadZipFile, OSError):
        return "is truncated or no zip file"


class WheelTree(SourceTree):
    """The tree inside a wheel. ``package_name`` is the folder in it that is read."""

    origin = "release"

    def __init__(self, wheel: Path, version: str, package_name: str = "sglang") -> None:
        self.version = version
        self.artifact = wheel.name
        self._wheel = wheel
        self._package = package(package_name)
        self._opened: tuple[int, zipfile.ZipFile] | None = None
        self._index = read_index(wheel) or self._make_index()

    def _make_index(self) -> WheelIndex:
        paths = sorted(path for path in self._members if path.endswith(".py"))
        state = state_of(self._wheel)
        index = WheelIndex(state, file_sha256(self._wheel), paths, self._read_metadata())
        if cache_folder("wheels") == self._wheel.parent:
            write_index(self._wheel, index)
        return index

    @property
    def _zip(self) -> zipfile.ZipFile:
        """The archive, opened by this very process: a forked one shares the place in the file that it
        reads at, so that one would move it under the other."""
        process, archive = self._opened or (0, None)
        if archive is None or process != os.getpid():
            archive = self._open()
            self._opened = (os.getpid(), archive)
        return archive

    def _open(self) -> zipfile.ZipFile:
        import zipfile

        try:
            return zipfile.ZipFile(self._wheel)
        except FileNotFoundError:
            raise UsageError(f"there is no wheel {self._wheel}") from None
        except (zipfile.BadZipFile, OSError) as error:
            raise CannotError(
                f"{self._wheel} can't be read as a wheel ({error})", "delete it and try again"
            ) from error

    @property
    def location(self) -> str:
        return str(self._wheel)

    def close(self) -> None:
        """Let go of the file; the tree can't be read any more."""
        self._zip.close()

    @property
    def sha256(self) -> str:  # type: ignore[override]
        """The hash of the wheel file."""
        return self._index.sha256

    @cached_property
    def _members(self) -> dict[str, zipfile.ZipInfo]:
        stem = self._package.name + "/"
        infos = self._zip.infolist()
        if len(infos) > MAX_MEMBERS:
            raise CannotError(f"{self._wheel.name} has {len(infos)} members, more than {MAX_MEMBERS}")
        return {
            self._package.tree_prefix + info.filename: info
            for info in infos
            if info.filename.startswith(stem) and not info.is_dir() and _is_safe(info)
        }

    def paths(self) -> tuple[str, ...]:
        return self._python_paths

    @cached_property
    def _python_paths(self) -> tuple[str, ...]:
        return tuple(self._index.paths)

    def read(self, path: str) -> bytes:
        try:
            info = self._members[path]
        except KeyError:
            raise FileNotFoundError(path) from None
        if info.file_size > MAX_FILE_BYTES:
            raise CannotError(f"{path} has {info.file_size:,} bytes, more than {MAX_FILE_BYTES:,}")
        import zipfile
        import zlib

        try:
            return self._zip.read(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise CannotError(
                f"{self._wheel}: {path} is damaged ({error})", "delete the wheel and try again"
            ) from error

    def quick_id(self, path: str) -> str | None:
        info = self._members.get(path)
        return f"{info.CRC:08x}-{info.file_size}" if info else None

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        return self._package.permalink(f"v{self.version}", path, line, end_line)

    @property
    def permalink_base(self) -> str | None:  # type: ignore[override]
        return self._package.permalink(f"v{self.version}", "")

    def metadata(self) -> str | None:
        return self._index.metadata

    def _read_metadata(self) -> str | None:
        for name in self._zip.namelist():
            if name.endswith(".dist-info/METADATA") and name.count("/") == 1:
                return self._zip.read(name).decode("utf-8", "replace")
        return None


def _is_safe(info: zipfile.ZipInfo) -> bool:
    """Tell whether a member is a plain file inside the archive: nothing climbs out, no link."""
    name = info.filename  # looked at as text: a path object for each of thousands of members is slow
    kind_ok = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
    return kind_ok and not name.startswith("/") and "\\" not in name and ".." not in name.split("/")


def open_wheel_tree(name: str, version: str, *, sha256: str | None = None) -> WheelTree:
    """Return the tree of any released package, fetched if needed (``transformers/...`` paths)."""
    version = normal_version(version)
    return WheelTree(fetch_wheel(name, version, sha256=sha256), version, name)
