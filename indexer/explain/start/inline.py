"""Slots per request where a release has no function for them: the block of code that computes them.

Up to 0.5.9 the number is a local variable of the function that makes the pools. Its block is given to the
interpreter as a function of its own, appended to the module it stands in.
"""

from __future__ import annotations

import ast
import textwrap

from indexer.knowledge.schema import Location
from indexer.source.tree import SourceTree

NAME = "_slots_per_request"
_LIMIT = "max_mamba_cache_size"


def find_inline_ratio(tree: SourceTree, path: str) -> tuple[str, Location] | None:
    """Return the source of a function ``_slots_per_request(self, max_num_reqs)`` and where it is from.

    Looked for is ``… max_mamba_cache_size // NAME`` in a block that also sets NAME.
    """
    text = tree.text(path)
    if _LIMIT not in text:
        return None
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for block in ast.walk(function):
            divisor = _divisor(block) if isinstance(block, ast.If) else None
            if divisor is not None:
                assert isinstance(block, ast.If)
                lines = text.splitlines()[block.body[0].lineno - 1 : block.body[-1].end_lineno]
                body = textwrap.indent(textwrap.dedent("\n".join(lines)), "    ")
                source = f"\n\ndef {NAME}(self, max_num_reqs):\n{body}\n    return {divisor}\n"
                return source, Location(path, block.lineno, block.end_lineno, function.name)
    return None


def _divisor(block: ast.If) -> str | None:
    """Return the name that the number of slots is divided by, if the block's own statements set it."""
    stored = {
        node.id for node in ast.walk(block) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(block):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.FloorDiv)
            and isinstance(node.left, ast.Attribute)
            and node.left.attr == _LIMIT
            and isinstance(node.right, ast.Name)
            and node.right.id in stored
        ):
            return node.right.id
    return None


class AppendedTree(SourceTree):
    """A tree of which one module has a function more."""

    def __init__(self, tree: SourceTree, path: str, source: str) -> None:
        self._tree, self._path, self._source = tree, path, source
        self.version, self.origin = tree.version, tree.origin

    def paths(self) -> tuple[str, ...]:
        return self._tree.paths()

    def read(self, path: str) -> bytes:
        read = self._tree.read(path)
        return read + self._source.encode() if path == self._path else read

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        return self._tree.permalink(path, line, end_line)

    def metadata(self) -> str | None:
        return self._tree.metadata()
