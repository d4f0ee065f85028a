"""The files interpreted code may see: the user's folders for reading, everything else in memory."""

from __future__ import annotations

import io
import json
import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.interpret.launch import Launch
from indexer.interpret.signals import Unsupported
from indexer.interpret.unknown import JsonValue, Unknown

_NUMA_MEMORY = re.compile(r"/sys/devices/system/node/node(\d+)/meminfo")
_NOT_THERE = ("/sys/fs/cgroup/", "/sys/devices/system/node/")
"""Files taken not to be there: no memory limit is set, and memory per NUMA node is asked elsewhere."""

HIDDEN = "\0hidden:"
"""Prefix of a value in a configuration file that stands for one that is not known."""

_KINDS = {kind.__name__: kind for kind in (bool, int, float, str, list, dict)}

_written: list[Unknown] = []
"""Unknowns that the running path wrote to files, by the numbers that stand for them there."""


def hide(value: Any) -> Any:
    """Return JSON data with a text in place of every unknown, which ``unhide`` makes one again."""
    if type(value) is Unknown:
        _written.append(value)
        return f"{HIDDEN}#{len(_written) - 1}"
    if isinstance(value, dict):
        return {name: hide(item) for name, item in value.items()}
    return [hide(item) for item in value] if isinstance(value, (list, tuple)) else value


def unhide(value: Any) -> Any:
    """Return JSON data with the unknowns that its texts stand for."""
    if isinstance(value, str) and value.startswith(HIDDEN):
        key = value.removeprefix(HIDDEN)
        if key.startswith("#"):
            return _written[int(key[1:])]
        kind, _, name = key.partition(":")
        return Unknown(f"{name} of config.json", (f"config.json: {name}",), kind=_KINDS.get(kind, JsonValue))
    if isinstance(value, dict):
        return {name: unhide(item) for name, item in value.items()}
    return [unhide(item) for item in value] if isinstance(value, list) else value


MEMORY = "/memory/"
"""Where files live that the launch gives as text or that the program writes."""

MAX_READ_BYTES = 64 * 1024 * 1024


class FileSystem:
    """Reads from the launch's folders, writes to memory only."""

    def __init__(self, launch: Launch) -> None:
        self._stands_for = launch.stands_for
        self._roots = [Path(one).resolve() for one in (*launch.folders, *launch.stands_for.values())]
        _written.clear()
        self._resolved: dict[str, Path | None] = {}
        self._memory: dict[str, bytes] = {name: text.encode() for name, text in launch.files.items()}
        self._hidden_keys = launch.hidden_keys
        self._ram_bytes = launch.host.ram_bytes
        self._numa_nodes = launch.host.numa_nodes

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # else the memo would hand out what is behind it

    def _on_disk(self, path: str) -> Path | None:
        """Return a path that lies in one of the launch's folders; None for any other."""
        if path not in self._resolved:
            try:
                resolved = self._meant(path).resolve()
            except (OSError, RuntimeError):
                return None
            inside = any(resolved == root or root in resolved.parents for root in self._roots)
            self._resolved[path] = resolved if inside else None
        return self._resolved[path]

    def _meant(self, path: str) -> Path:
        for name, folder in self._stands_for.items():
            if path == name or path.startswith(name + "/"):
                return folder / path[len(name) + 1 :]
        return Path(path)

    def exists(self, path: Any) -> Any:
        return self._kind(path, "exists")

    def is_file(self, path: Any) -> Any:
        return self._kind(path, "file")

    def is_dir(self, path: Any) -> Any:
        return self._kind(path, "dir")

    def _kind(self, path: Any, what: str) -> Any:
        if type(path) is Unknown:
            return path._rt_derive(f"path {what}")
        if path is None or isinstance(path, (bool, float)):
            raise TypeError("stat: path should be string, bytes, os.PathLike or integer")
        name = str(path)
        if name in self._memory:
            return what != "dir"
        if any(stored.startswith(name.rstrip("/") + "/") for stored in self._memory):
            return what != "file"
        real = self._on_disk(name)
        if real is not None:
            return {"exists": real.exists, "file": real.is_file, "dir": real.is_dir}[what]()
        return self._outside(name)

    @staticmethod
    def _outside(name: str) -> Any:
        """A path that the launch says nothing of: relative ones are taken not to exist."""
        if not name.startswith("/") or name.startswith(MEMORY):
            return False
        return Unknown(f"whether {name} exists", (f"file {name}",))

    def glob(self, pattern: Any, **options: Any) -> Any:
        """Answer ``glob.glob`` for a pattern in the last part of the path."""
        import fnmatch

        if type(pattern) is Unknown:
            return pattern._rt_derive("glob")
        folder, _, last = str(pattern).rpartition("/")
        if "*" in folder or options.get("recursive"):
            raise Unsupported(f"glob of {pattern}")
        present = self.is_dir(folder)
        if type(present) is Unknown:
            return present._rt_derive("glob", str(pattern))
        if not present:
            return []
        return [f"{folder}/{name}" for name in self.listdir(folder) if fnmatch.fnmatch(name, last)]

    def listdir(self, path: Any) -> list[str]:
        name = str(path)
        real = self._on_disk(name)
        found = {entry.name for entry in real.iterdir()} if real is not None and real.is_dir() else set()
        prefix = name.rstrip("/") + "/"
        found |= {
            stored[len(prefix) :].partition("/")[0] for stored in self._memory if stored.startswith(prefix)
        }
        if not found and real is None:
            raise FileNotFoundError(2, "No such file or directory", name)
        return sorted(found)

    def read(self, path: Any) -> bytes:
        name = str(path)
        if name in self._memory:
            return self._memory[name]
        node = _NUMA_MEMORY.fullmatch(name)
        if node and self._ram_bytes is not None:
            share = self._ram_bytes // 1024 // max(1, self._numa_nodes or 1)
            return f"Node {node.group(1)} MemTotal: {share} kB\n".encode()
        real = self._on_disk(name)
        if real is None:
            if name.startswith("/") and not name.startswith((*_NOT_THERE, MEMORY)):
                raise Unsupported(f"reading {name}, of which the launch says nothing")
            raise FileNotFoundError(2, "No such file or directory", name)
        if real.is_file() and real.stat().st_size > MAX_READ_BYTES:
            raise Unsupported(f"reading {name}: larger than {MAX_READ_BYTES} bytes")
        data = real.read_bytes()
        return self._hide(data) if self._hidden_keys and name.endswith("/config.json") else data

    def _hide(self, data: bytes) -> bytes:
        """Mark the values of hidden keys; ``json.loads`` makes unknowns of known types of them."""
        config = json.loads(data)
        for owner in (config, *(one for one in config.values() if isinstance(one, dict))):
            for key in self._hidden_keys & owner.keys():
                owner[key] = f"{HIDDEN}{type(owner[key]).__name__}:{key}"
        return json.dumps(config).encode()

    def open(self, path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if type(path) is Unknown or type(mode) is Unknown:
            raise Unsupported(f"opening {path!r}")
        name = str(path)
        if any(letter in mode for letter in "wax+"):
            return _Written(self._memory, name, "b" in mode, append="a" in mode)
        data = self.read(name)
        return (
            io.BytesIO(data) if "b" in mode else io.StringIO(data.decode(kwargs.get("encoding") or "utf-8"))
        )


class _Written:
    """A file that is written to memory."""

    def __init__(self, memory: dict[str, bytes], name: str, binary: bool, append: bool) -> None:
        self._memory, self.name, self._binary = memory, name, binary
        self._parts = [memory.get(name, b"")] if append else []

    def write(self, text: Any) -> int:
        self._parts.append(text if self._binary else text.encode())
        return len(text)

    def flush(self) -> None:
        self._memory[self.name] = b"".join(self._parts)

    close = flush

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.flush()


def make_path_class(files: FileSystem) -> type:
    """Return ``pathlib.Path`` on this file system."""

    class Path(PurePosixPath):
        def exists(self) -> Any:
            return files.exists(self)

        def is_file(self) -> Any:
            return files.is_file(self)

        def is_dir(self) -> Any:
            return files.is_dir(self)

        def read_text(self, *args: Any, **kwargs: Any) -> str:
            return files.read(self).decode()

        def read_bytes(self) -> bytes:
            return files.read(self)

        def open(self, *args: Any, **kwargs: Any) -> Any:
            return files.open(self, *args, **kwargs)

        def iterdir(self) -> Any:
            return (self / name for name in files.listdir(self))

        def resolve(self, *args: Any, **kwargs: Any) -> Path:
            return Path(posixpath.normpath(str(self)))

        absolute = expanduser = resolve

        def mkdir(self, *args: Any, **kwargs: Any) -> None:
            return None

        def glob(self, pattern: str) -> Any:
            import fnmatch

            return [self / name for name in files.listdir(self) if fnmatch.fnmatch(name, pattern)]

        @classmethod
        def home(cls) -> Path:
            return cls("/home/user")

        @classmethod
        def cwd(cls) -> Path:
            return cls("/home/user")

    return Path
