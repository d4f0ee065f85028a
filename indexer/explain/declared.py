"""Decisions that are kept beside the record without a call that says so.

A provider (a model family's override) returns what it decides, and whoever asked it puts the pair of the
provider's name and a copy into the record's list of decisions. The last pair that names a field decided it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from indexer.interpret.compiled import MARK
from indexer.interpret.made import Made
from indexer.interpret.marks import is_interpreted_function

_CONSTRUCTION = ("from_cli_args", "__init__")
"""Functions whose stores make the record: they decide nothing."""


@dataclass(frozen=True)
class Write:
    """A write of one field by a line of the tree."""

    name: str
    path: str
    line: int
    function: str

    @property
    def decides(self) -> bool:
        """Whether it is more than the record's own construction, which stores every field once."""
        return self.function.rpartition(".")[2] not in _CONSTRUCTION


@dataclass(frozen=True)
class Declared:
    """A declaration as it was made: who says it, and the fields with their values."""

    source: Any
    fields: dict[str, Any]


def unnoted_decisions(program: Any, record: Any, noted: list[Declared]) -> list[Write]:
    """Return the writes of the fields whose last decision beside the record was not noted as it was made."""
    last: dict[str, tuple[str, Any]] = {}
    for decisions in _kept_beside(record):
        for source, fields in decisions:
            for name, value in fields.items():
                last[name] = (source, value)
    found = []
    for name, (source, value) in last.items():
        if not any(one.source == source and one.fields.get(name, ...) is value for one in noted):
            write = _decided_by(program, source, name, value)
            found += [write] if write is not None else []
    return found


def decided_beside(program: Any, record: Any, name: str, value: Any) -> Write | None:
    """Return who decided a value that a helper takes from beside the record and stores in it."""
    for decisions in _kept_beside(record):
        for source, fields in reversed(decisions):
            if fields.get(name, ...) is value:
                return _decided_by(program, source, name, value)
    return None


def _decided_by(program: Any, source: str, name: str, value: Any) -> Write | None:
    return written_by(program, name, value, source) or _in_provider(program, source, name)


def _kept_beside(record: Any) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    for value in list(getattr(record, "__dict__", {}).values()):
        if type(value) is list and value and all(_is_decision(one) for one in value):
            yield value


def _is_decision(one: Any) -> bool:
    return type(one) is tuple and len(one) == 2 and type(one[0]) is str and type(one[1]) is dict


def written_by(program: Any, name: str, value: Any, *functions: Any) -> Write | None:
    """Return the line at which one of some functions (qualified names) wrote a value into a dictionary."""
    return _latest(program, name, value, lambda made: made.function in functions)


def returned(program: Any, name: str, value: Any) -> Write | None:
    """Return the line of the dictionary with a value that somebody returned last."""
    return _latest(program, name, value, lambda made: made.returned)


def _latest(program: Any, name: str, value: Any, meant: Callable[[Made], bool]) -> Write | None:
    for made in reversed(program.world.made):
        if made.writes(name, value) and meant(made):
            return Write(name, made.path, made.lines[name], made.function)
    return None


def _in_provider(program: Any, source: str, name: str) -> Write | None:
    """Return the only line of the provider that names the field as a key, its ``def`` where it has more."""
    for function in program.bound(source):
        if is_interpreted_function(function) and function.__qualname__ == source:
            path, first = function.__code__.co_filename.removeprefix(MARK), function.__code__.co_firstlineno
            lines = set(_key_lines(program.source(path), first, name))
            return Write(name, path, lines.pop() if len(lines) == 1 else first, source)
    return None


def _key_lines(text: str, first: int, name: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and _first_line(node) == first:
            for inner in ast.walk(node):
                keys: list[ast.expr | None] = []
                if isinstance(inner, ast.Dict):
                    keys = inner.keys
                elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store):
                    keys = [inner.slice]
                yield from (key.lineno for key in keys if isinstance(key, ast.Constant) and key.value == name)


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])
