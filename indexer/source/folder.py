"""A plain folder, or the package installed in this Python's site-packages."""

from __future__ import annotations

import os
import stat
from functools import cached_property
from pathlib import Path

from indexer.errors import CannotError, UsageError
from indexer.source.stated import stated_version
from indexer.source.tree import MAX_FILE_BYTES, PACKAGE_ROOT, SourceTree

_PACKAGE = "sglang"


class FolderTree(SourceTree):
    """Files on disk. ``package`` is the folder that holds ``srt/``; links are not followed."""

    origin = "folder"

    def __init__(self, package: Path, version: str | None = None, metadata: str | None = None) -> None:
        self._package = package
        self._metadata = metadata
        self.version = version or stated_version(self, metadata) or "unversioned"

    @property
    def location(self) -> str:
        return str(self._package)

    def paths(self) -> tuple[str, ...]:
        return self._paths

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        found: list[str] = []
        for folder, _, names in os.walk(self._package, followlinks=False):
            stem = Path(folder).relative_to(self._package)
            found.extend(
                (PACKAGE_ROOT / stem / name).as_posix()
                for name in names
                if name.endswith(".py") and not Path(folder, name).is_symlink()
            )
        return tuple(sorted(found))

    def read(self, path: str) -> bytes:
        relative = Path(path)
        if not path.startswith(PACKAGE_ROOT + "/") or ".." in relative.parts:
            raise FileNotFoundError(path)
        file = self._package / relative.relative_to(PACKAGE_ROOT)
        try:
            state = file.lstat()
            if stat.S_ISLNK(state.st_mode):
                raise CannotError(f"{path} in {self._package} is a link; links are not followed")
            if state.st_size > MAX_FILE_BYTES:
                raise CannotError(f"{path} has {state.st_size:,} bytes, more than {MAX_FILE_BYTES:,}")
            return file.read_bytes()
        except FileNotFoundError:
            raise FileNotFoundError(path) from None
        except OSError as error:
            raise CannotError(f"{file} can't be read ({error.strerror})") from error

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        return None

    def metadata(self) -> str | None:
        return self._metadata


class InstalledTree(FolderTree):
    """The SGLang that this Python would import; it is found, not imported."""

    origin = "installed"


def open_folder(folder: Path, version: str | None = None) -> FolderTree:
    """Return the tree in a folder: a repository's root, its ``python``, the package, or site-packages.

    Raises:
        UsageError: there is no such folder.
        CannotError: there is no SGLang in it.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    for package in (folder / "python" / _PACKAGE, folder / _PACKAGE, folder):
        if (package / "srt").is_dir():
            return FolderTree(package, version, _metadata_beside(package))
    raise CannotError(
        f"{folder} is not a SGLang tree: no python/sglang/srt in it", "name the root of a SGLang checkout"
    )


def open_installed(version: str | None = None) -> InstalledTree:
    """Return the installed SGLang's tree.

    Raises:
        CannotError: SGLang is not installed in this Python.
    """
    from importlib.util import find_spec

    spec = find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        if (Path(place) / "srt").is_dir():
            return InstalledTree(Path(place), version, _metadata_beside(Path(place)))
    raise CannotError(
        "SGLang is not installed in this Python",
        "use the Python that has it, or --folder SITE-PACKAGES/sglang of another one",
    )


def _metadata_beside(package: Path) -> str | None:
    candidates = [
        package.parent / "pyproject.toml",
        *sorted(package.parent.glob(f"{_PACKAGE}-*.dist-info/METADATA")),
    ]
    for file in candidates:
        if file.is_file():
            return file.read_text(encoding="utf-8", errors="replace")
    return None
