"""Which functions an algorithm's worker can run, within the speculation package."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.extract.algorithms.members import FOLDER
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Module, module_name

_PACKAGE = module_name(f"{FOLDER}/__init__.py")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


class WorkerClosure:
    """Follows names from a class through the speculation package: an upper bound of what its methods call.

    Methods found only through an object's type are not followed; classes named anywhere count whole.
    """

    def __init__(self, graph: ModuleGraph, leave_out: set[str]) -> None:
        """``leave_out`` names classes to enter only as bases: the registry, whose dispatch names every
        worker, and the workers themselves, which others name in annotations."""
        self.graph = graph
        self.leave_out = leave_out
        self._lines: dict[str, list[str]] = {}

    def of(self, start: Definition) -> set[tuple[str, str]]:
        """Return (path, qualified name) of every function and class reached from a class."""
        seen: set[tuple[str, str]] = set()
        queue = [start]
        bases = {one.qualname for one in self.graph.mro(start)}
        while queue:
            definition = queue.pop()
            module = self.graph.module(definition.module)
            key = (definition.path or "", definition.qualname)
            if definition.qualname in self.leave_out and definition.qualname not in bases:
                continue
            if module is None or key in seen or not definition.module.startswith(_PACKAGE):
                continue
            seen.add(key)
            if definition.kind == "class":
                queue.extend(one for one in self.graph.bases(definition) if one.kind == "class")
                prefix = f"{definition.qualname}."
                queue.extend(
                    Definition("function", module.name, one.qualname, module.path, one)
                    for one in module.functions
                    if one.qualname.startswith(prefix)
                )
            elif definition.kind == "function":
                queue.extend(self._named(definition, module))
        return seen

    def _named(self, function: Definition, module: Module) -> Iterator[Definition]:
        record = function.record
        if record is None:
            return
        words = set(_WORD.findall("\n".join(self._source(module.path)[record.line - 1 : record.end_line])))
        for name in words & self._visible(module, function.qualname):
            found = self.graph.resolve(module, name, function.qualname)
            if found is not None and found.kind in ("class", "function"):
                yield found

    def _source(self, path: str) -> list[str]:
        if path not in self._lines:
            self._lines[path] = self.graph.tree.text(path).splitlines()
        return self._lines[path]

    @staticmethod
    def _visible(module: Module, scope: str) -> set[str]:
        names = {one.local for one in module.imports if not one.scope or scope.startswith(one.scope)}
        names |= {one.qualname for one in module.functions if "." not in one.qualname}
        return names | {one.qualname for one in module.classes if "." not in one.qualname}
