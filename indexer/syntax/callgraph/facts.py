"""One walk over a file: the calls, stores, returns, imports and guards in it.

Facts are keyed by the file's content alone (no path inside), so that a file unchanged between two
releases is read once. Expressions stay text; ``expressions.parse`` reads one when inference needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import msgspec
from tree_sitter import QueryCursor, Tree

from indexer.syntax import queries
from indexer.syntax.facts import Extractor

TERMINATORS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_COMMENT = re.compile(r"""("[^"\n]*"|'[^'\n]*')|#[^\n]*""")
MAX_TEXT = 4000
"""Expressions longer than this (tables, f-string blobs) are cut: inference reads none of them."""


_Condition = tuple[str, bool, int, int]
"""A condition's text, whether it holds, its first and last line."""


class Guard(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A condition around code: ``parent`` is the index of the next outer guard or -1."""

    parent: int
    text: str
    holds: bool
    line: int
    end_line: int


class Call(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A call site: callee and argument list as source text. ``line`` is where the callee's last name is."""

    line: int
    end_line: int
    callee: str
    arguments: str
    guard: int
    start_line: int


class Store(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """``target = value``; ``kind`` is one of ``=``, ``+=``, ``for``, ``with``."""

    line: int
    target: str
    value: str
    annotation: str
    kind: str
    guard: int


class Return(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """``return value``."""

    line: int
    value: str
    guard: int


class Import(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One imported name: ``from module import name as local`` (``name`` empty for a plain import)."""

    line: int
    local: str
    module: str
    name: str
    guard: int


class Parameter(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A parameter with its annotation and default as text (empty when absent)."""

    name: str
    annotation: str
    default: str


class Scope(msgspec.Struct, array_like=True):
    """A module, class or function body. ``parent`` is the enclosing scope's index in the file."""

    kind: str
    name: str
    line: int
    end_line: int
    parent: int
    guard: int = -1
    bases: str = ""
    decorators: list[str] = []
    parameters: list[Parameter] = []
    returns_annotation: str = ""
    stub: bool = False
    calls: list[Call] = []
    stores: list[Store] = []
    returns: list[Return] = []
    imports: list[Import] = []


class FileFacts(msgspec.Struct, array_like=True):
    """All scopes of a file (the module first) and the guards they refer to."""

    scopes: list[Scope]
    guards: list[Guard]


def read_facts(path: str, source: bytes, tree: Tree) -> FileFacts:
    """Return the facts of one parsed file. A file with syntax errors yields what could be read."""
    return Walk(source, tree.root_node).run(QueryCursor(queries.load("callgraph")).captures(tree.root_node))


CALL_FACTS = Extractor("callgraph", read_facts, FileFacts, decided_by=("queries/callgraph.scm",))


def _one_line(text: str) -> str:
    if "#" in text:
        text = _COMMENT.sub(lambda match: match.group(1) or "", text)
    return " ".join(text.split())


_Event = tuple[int, int, int, Any, Any]
"""Start and negated end in bytes (an outer node before its first part), a serial number, handler, node."""


class Walk:
    """Turns captures, in document order, into facts with a stack of open scopes and guards."""

    def __init__(self, source: bytes, root: Any) -> None:
        # one character a byte, so that a slice needs no decoding unless it has others than ASCII
        self.plain = source.decode("latin-1")
        self.source = source
        self.scope = Scope("module", "", 1, root.end_point[0] + 1, -1)
        self.guard = -1
        self.facts = FileFacts([self.scope], [])
        self._scopes: list[tuple[int, int]] = [(len(source) + 1, 0)]
        self._guards: list[tuple[int, int]] = [(len(source) + 1, -1)]

    def run(self, captures: dict[str, list[Any]]) -> FileFacts:
        """Return the facts of the file's captures."""
        serial = count(1)
        events: list[_Event] = []
        for name, nodes in captures.items():
            if name == "if":
                for node in sorted(nodes, key=lambda one: one.start_byte):
                    events.extend(self._guarded(self._branches(node), serial))
            elif name == "ternary":
                for node in nodes:
                    events.extend(self._guarded(self._alternatives(node), serial))
            else:
                handler = getattr(self, f"on_{name}")
                events += [(node.start_byte, -node.end_byte, next(serial), handler, node) for node in nodes]
        events.sort()  # no two have the same serial number
        scopes, guards = self._scopes, self._guards
        for start, negative_end, _, handler, payload in events:
            if scopes[-1][0] <= start:
                while scopes[-1][0] <= start:
                    scopes.pop()
                self.scope = self.facts.scopes[scopes[-1][1]]
            if guards[-1][0] <= start:
                while guards[-1][0] <= start:
                    guards.pop()
                self.guard = guards[-1][1]
            handler(payload, start, -negative_end)
        return self.facts

    def _guarded(
        self, parts: Iterable[tuple[int, int, list[_Condition]]], serial: Iterator[int]
    ) -> Iterator[_Event]:
        # a guard stands before what has the same place
        return ((start, -end, -next(serial), self._on_guard, conditions) for start, end, conditions in parts)

    def _on_guard(self, conditions: list[_Condition], start: int, end: int) -> None:
        for text, holds, line, end_line in conditions:
            self.facts.guards.append(Guard(self.guard, text, holds, line, end_line))
            self.guard = len(self.facts.guards) - 1
            self._guards.append((end, self.guard))

    def _text(self, node: Any) -> str:
        return self._slice(node.start_byte, node.end_byte)

    def _slice(self, start: int, end: int) -> str:
        """Return the source between two bytes on one line, without comments; long text is left out."""
        if end - start > MAX_TEXT:
            return "..."
        text = self.plain[start:end]
        if not text.isascii():
            text = self.source[start:end].decode("utf-8", "replace")
        return text if "\n" not in text else _one_line(text)

    def _field(self, node: Any, name: str) -> str:
        child = node.child_by_field_name(name)
        return self._text(child) if child is not None else ""

    def _alternatives(self, node: Any) -> Iterator[tuple[int, int, list[_Condition]]]:
        """Yield the byte ranges of a conditional expression's two values, with the condition of each."""
        body, test, other = node.named_children[:3]
        lines = (test.start_point[0] + 1, test.end_point[0] + 1)
        text = self._text(test)
        for part, holds in ((body, True), (other, False)):
            yield part.start_byte, part.end_byte, [(text, holds, *lines)]

    def _branches(self, node: Any) -> list[tuple[int, int, list[_Condition]]]:
        """Return the byte ranges of an if's branches, each with the conditions that lead there.

        The code after a branch that can't fall through runs only when that branch was not taken.
        """
        found: list[tuple[int, int, list[_Condition]]] = []
        earlier: list[_Condition] = []
        leaves: list[bool] = []
        for part in (node, *node.children_by_field_name("alternative")):
            test = part.child_by_field_name("condition")
            body = part.child_by_field_name("consequence" if test is not None else "body")
            if body is None:
                continue
            guard = list(earlier)
            if test is not None:
                entry = (self._text(test), True, test.start_point[0] + 1, test.end_point[0] + 1)
                guard.append(entry)
                earlier.append((entry[0], False, entry[2], entry[3]))
            found.append((body.start_byte, body.end_byte, guard))
            last = body.named_children[-1] if body.named_child_count else None
            leaves.append(last is not None and last.type in TERMINATORS)
        after = [entry for entry, gone in zip(earlier, leaves, strict=False) if gone]
        if after and all(leaves[: len(after)]) and node.parent is not None:
            found.append((node.end_byte, node.parent.end_byte, after))
        return found

    def _open(self, node: Any, scope: Scope, end: int) -> None:
        scope.parent = self._scopes[-1][1]
        scope.guard = self.guard
        parent = node.parent
        if parent is not None and parent.type == "decorated_definition":
            scope.decorators = [self._text(c)[1:].strip() for c in parent.children if c.type == "decorator"]
        self._scopes.append((end, len(self.facts.scopes)))
        self.facts.scopes.append(scope)
        self.scope = scope

    def on_class(self, node: Any, start: int, end: int) -> None:
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        scope = Scope("class", self._field(node, "name"), first, last, 0)
        scope.bases = self._field(node, "superclasses")
        self._open(node, scope, end)

    def on_function(self, node: Any, start: int, end: int) -> None:
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        scope = Scope("function", self._field(node, "name"), first, last, 0)
        scope.returns_annotation = self._field(node, "return_type")
        parameters = node.child_by_field_name("parameters")
        scope.parameters = [
            p for p in map(self._parameter, parameters.named_children if parameters else ()) if p is not None
        ]
        scope.stub = self._is_stub(node.child_by_field_name("body"))
        self._open(node, scope, end)

    def _parameter(self, node: Any) -> Parameter | None:
        if node.type == "identifier":
            return Parameter(self._text(node), "", "")
        if node.type == "typed_parameter":
            name = node.named_children[0]
            return Parameter(self._text(name), self._field(node, "type"), "")
        if node.type in ("default_parameter", "typed_default_parameter"):
            return Parameter(self._field(node, "name"), self._field(node, "type"), self._field(node, "value"))
        if node.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            return Parameter(self._text(node), "", "")
        if node.type == "keyword_separator":
            return Parameter("*", "", "")
        return None

    def _is_stub(self, body: Any) -> bool:
        """Whether the body only raises NotImplementedError, passes or is ``...`` (docstring aside)."""
        if body is None:
            return False
        statements = [c for c in body.named_children if c.type != "comment"]
        if statements and statements[0].type == "expression_statement":
            inner = statements[0].named_children
            if inner and inner[0].type in ("string", "concatenated_string", "ellipsis"):
                only_ellipsis = inner[0].type == "ellipsis"
                statements = statements[1:]
                if not statements:
                    return only_ellipsis
        if len(statements) != 1:
            return False
        if statements[0].type == "raise_statement":
            return "NotImplementedError" in self._text(statements[0])
        if statements[0].type == "expression_statement":
            return self._text(statements[0]) == "..."
        return False

    def on_import(self, node: Any, start: int, end: int) -> None:
        for child in node.named_children:
            if child.type == "aliased_import":
                dotted = self._field(child, "name")
                entry = Import(node.start_point[0] + 1, self._field(child, "alias"), dotted, "", self.guard)
            else:
                dotted = self._text(child)
                root = dotted.split(".")[0]
                # ``import a.b`` binds ``a``; the module that is reached through it is kept beside it
                entry = Import(node.start_point[0] + 1, root, root, "", self.guard)
            self.scope.imports.append(entry)

    def on_import_from(self, node: Any, start: int, end: int) -> None:
        module = self._field(node, "module_name").replace(" ", "")
        line = node.start_point[0] + 1
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, local = self._field(child, "name"), self._field(child, "alias")
            else:
                name = local = self._text(child)
            self.scope.imports.append(Import(line, local, module, name, self.guard))
        if any(child.type == "wildcard_import" for child in node.children):
            self.scope.imports.append(Import(line, "*", module, "*", self.guard))

    def on_call(self, node: Any, start: int, end: int) -> None:
        callee = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if callee is None or arguments is None:
            return
        first = node.start_point[0] + 1
        # most calls stand on one line
        one_line = self.source.find(b"\n", start, end) < 0
        self.scope.calls.append(
            Call(
                first if one_line else callee.end_point[0] + 1,
                first if one_line else node.end_point[0] + 1,
                self._slice(start, callee.end_byte),
                self._slice(arguments.start_byte, end),
                self.guard,
                first,
            )
        )

    def _store(self, node: Any, target: Any, value: str, annotation: str, kind: str) -> None:
        if target is None:
            return
        line = node.start_point[0] + 1
        self.scope.stores.append(Store(line, self._text(target), value, annotation, kind, self.guard))

    def on_assignment(self, node: Any, start: int, end: int) -> None:
        right = node.child_by_field_name("right")
        value = self._text(right) if right is not None else ""
        self._store(node, node.child_by_field_name("left"), value, self._field(node, "type"), "=")
        if right is not None and right.type == "assignment":  # a = b = v: every target gets the last value
            last = right
            while last is not None and last.type == "assignment":
                last = last.child_by_field_name("right")
            if last is not None:
                self._store(node, node.child_by_field_name("left"), self._text(last), "", "=")

    def on_augmented(self, node: Any, start: int, end: int) -> None:
        self._store(node, node.child_by_field_name("left"), self._field(node, "right"), "", "+=")

    def on_walrus(self, node: Any, start: int, end: int) -> None:
        self._store(node, node.child_by_field_name("name"), self._field(node, "value"), "", "=")

    def on_for(self, node: Any, start: int, end: int) -> None:
        self._store(node, node.child_by_field_name("left"), self._field(node, "right"), "", "for")

    def on_as(self, node: Any, start: int, end: int) -> None:
        if len(node.named_children) == 2:
            self._store(node, node.named_children[1], self._text(node.named_children[0]), "", "with")

    def on_return(self, node: Any, start: int, end: int) -> None:
        value = self._text(node.named_children[0]) if node.named_child_count else ""
        self.scope.returns.append(Return(node.start_point[0] + 1, value, self.guard))
