"""Compiled modules, kept between runs.

Each file is compiled once, whatever release it stands in. For a released wheel, which never changes,
what a run needed of it is kept in one more file: reading that is much quicker than opening a few hundred
files of the wheel to find out that each was compiled before.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import CodeType
from weakref import WeakKeyDictionary

from indexer.errors import CannotError
from indexer.extractor_version import compiler_version
from indexer.interpret.compiled import Chunk, CompiledModule, compile_module
from indexer.interpret.signals import Unsupported
from indexer.source.cache import cache_folder, keep
from indexer.source.tree import SourceTree

_MOST_TEXTS, _LONGEST_TEXT = 4_000, 50_000
_TAG = f"{sys.implementation.cache_tag}-{compiler_version()}"


class TreeCode:
    """The compiled code of one tree: its modules, and the texts that ``dataclasses`` compiles."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._folder = _folder()
        self._modules: dict[str, CompiledModule] = {}
        self._kept: dict[str, _Parts] = {}
        self._texts: dict[str, bytes | CodeType] = {}
        self._bundle = None
        self._added: tuple[list[str], list[str]] = ([], [])
        if self._folder is not None and tree.origin == "release" and tree.sha256:
            self._bundle = self._folder / "releases" / tree.sha256
            self._load(self._bundle)

    def module(self, path: str) -> CompiledModule:
        """Return a compiled module of the tree.

        Raises:
            Unsupported: its source can't be compiled.
        """
        known = self._modules.get(path)
        if known is None and path in self._kept:
            known = self._modules[path] = _module(path, self._kept[path])
        elif known is None:
            known = self._modules[path] = self._of_content(path)
            self._added[0].append(path)
        return known

    def text(self, source: str) -> CodeType:
        """Return the code of a text of Python, compiled once."""
        known = self._texts.get(source)
        if known is None:
            known = self._texts[source] = compile(source, "<string>", "exec", dont_inherit=True)
            self._added[1].append(source)
        elif type(known) is bytes:
            known = self._texts[source] = marshal.loads(known)
        return known  # type: ignore[return-value]

    def added(self) -> tuple[list[str], list[str]]:
        """Return what was not there when the tree was opened: paths of modules, and texts."""
        return self._added

    def prepare(self, paths: list[str], texts: list[str]) -> None:
        """Compile, without running any of it, what a child said that it needed."""
        for path in paths:
            if path in self._tree:
                with suppress(Unsupported):
                    self.module(path)
        for text in texts[:_MOST_TEXTS]:
            if len(text) <= _LONGEST_TEXT:
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                    self.text(text)

    def save(self) -> None:
        """Keep what this process compiled of a release."""
        if self._bundle is None or not any(self._added):
            return
        self._added = ([], [])
        texts = {
            text: code if isinstance(code, bytes) else marshal.dumps(code)
            for text, code in self._texts.items()
        }
        keep(self._bundle, marshal.dumps((self._kept | _plain(self._modules), texts)))

    def _load(self, bundle: Path) -> None:
        try:
            self._kept, self._texts = marshal.loads(bundle.read_bytes())
        except (OSError, EOFError, ValueError, TypeError):
            self._kept, self._texts = {}, {}

    def _of_content(self, path: str) -> CompiledModule:
        """Return a module by what its file holds, which may have been compiled for another release."""
        if self._folder is None:
            return compile_module(self._tree.text(path), path)
        source = self._tree.read(path)
        key = hashlib.blake2b(path.encode() + b"\0" + source, digest_size=16).hexdigest()
        file = self._folder / key[:2] / key
        try:
            return _module(path, marshal.loads(file.read_bytes()))
        except (OSError, EOFError, ValueError, TypeError):
            module = compile_module(self._tree.text(path), path)
        keep(file, marshal.dumps(_parts(module)))
        return module


def _folder() -> Path | None:
    """Return where compiled code of this Python and compiler lies; what older compilers left is dropped."""
    try:
        place = cache_folder("code")
    except CannotError:
        return None
    folder = place / _TAG
    if not folder.is_dir():
        import shutil

        for old in place.glob(f"{sys.implementation.cache_tag}-*"):
            shutil.rmtree(old, ignore_errors=True)
    return folder


_Parts = tuple[
    list[tuple[tuple[str, ...], int, bool, bytes]], dict[str, bytes], list[tuple[str, int]], str | None
]


def _parts(module: CompiledModule) -> _Parts:
    chunks = [(chunk.binds, chunk.line, chunk.registers, chunk.payload) for chunk in module.chunks]
    return chunks, module.annotations, module.stars, module.doc


def _plain(modules: Mapping[str, CompiledModule]) -> dict[str, _Parts]:
    return {path: _parts(module) for path, module in modules.items()}


def _module(path: str, parts: _Parts) -> CompiledModule:
    chunks, annotations, stars, doc = parts
    return CompiledModule(path, [Chunk(*chunk) for chunk in chunks], annotations, stars, doc)


_codes: WeakKeyDictionary[SourceTree, TreeCode] = WeakKeyDictionary()
"""The code of each open tree. Keyed by the tree itself: an ``id`` is given to another tree once its owner
is gone, and the modules of one release would pass for those of the next."""


def code_of(tree: SourceTree) -> TreeCode:
    """Return the compiled code of an open tree."""
    known = _codes.get(tree)
    if known is None:
        known = _codes[tree] = TreeCode(tree)
    return known
