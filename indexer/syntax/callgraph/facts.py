"""One walk over a file: the calls, stores, returns, imports, attribute reads and guards in it.

Facts are keyed by the file's content alone (no path inside), so that a file unchanged between two
releases is read once. Expressions stay text; ``expressions.parse`` reads one when inference needs it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from tree_sitter import QueryCursor, Tree

from indexer.syntax import queries
from indexer.syntax.facts import Extractor

FACTS_VERSION = 3

TERMINATORS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_COMMENT = re.compile(r"""("[^"\n]*"|'[^'\n]*')|#[^\n]*""")
MAX_READ = 120
MAX_TEXT = 4000
"""Expressions longer than this (tables, f-string blobs) are cut: inference reads none of them."""


class Guard(msgspec.Struct, array_like=True, frozen=True):
    """A condition around code: ``parent`` is the index of the next outer guard or -1."""

    parent: int
    text: str
    holds: bool
    line: int
    end_line: int


class Call(msgspec.Struct, array_like=True, frozen=True):
    """A call site: callee and argument list as source text. ``line`` is where the callee's last name is."""

    line: int
    end_line: int
    callee: str
    arguments: str
    guard: int
    start_line: int


class Store(msgspec.Struct, array_like=True, frozen=True):
    """``target = value``; ``kind`` is one of ``=``, ``+=``, ``for``, ``with``."""

    line: int
    target: str
    value: str
    annotation: str
    kind: str
    guard: int


class Return(msgspec.Struct, array_like=True, frozen=True):
    """``return value``."""

    line: int
    value: str
    guard: int


class Import(msgspec.Struct, array_like=True, frozen=True):
    """One imported name: ``from module import name as local`` (``name`` empty for a plain import)."""

    line: int
    local: str
    module: str
    name: str
    guard: int


class Parameter(msgspec.Struct, array_like=True, frozen=True):
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
    reads: list[tuple[int, str, int]] = []


class FileFacts(msgspec.Struct, array_like=True):
    """All scopes of a file (the module first) and the guards they refer to."""

    scopes: list[Scope]
    guards: list[Guard]


def read_facts(path: str, source: bytes, tree: Tree) -> FileFacts:
    """Return the facts of one parsed file. A file with syntax errors yields what could be read."""
    walk = _Walk(source, tree.root_node)
    return walk.run(QueryCursor(queries.load("callgraph")).captures(tree.root_node))


CALL_FACTS = Extractor("callgraph", FACTS_VERSION, read_facts, FileFacts)


_SCOPES = ("class", "function", "import", "import_from")
_HANDLED = (*_SCOPES, "call", "attribute", "assignment", "augmented", "walrus", "return", "for", "as")


class _Walk:
    """Turns captures, in document order, into facts with a stack of open scopes and guards."""

    def __init__(self, source: bytes, root: Any) -> None:
        # most files are ASCII: there a byte's place is its character's, and a slice needs no decoding
        self.plain = source.decode("ascii") if source.isascii() else None
        self.source = source
        module = Scope("module", "", 1, root.end_point[0] + 1, -1)
        self.facts = FileFacts([module], [])
        self.scope_stack: list[tuple[int, int]] = [(len(source) + 1, 0)]
        self.guard_stack: list[tuple[int, int]] = []
        self.last_attribute = (-1, -1)

    def run(self, captures: dict[str, list[Any]]) -> FileFacts:
        events: list[tuple[int, int, int, str, Any]] = []
        serial = 0
        for name, nodes in captures.items():
            for node in nodes:
                serial += 1
                events.append((node.start_byte, -node.end_byte, serial, name, node))
                if name == "if":
                    for start, end, guard in self._branches(node):
                        serial += 1
                        events.append((start, -end, -serial, "guard", guard))
                elif name == "ternary":
                    body, test, other = node.named_children[:3]
                    lines = (test.start_point[0] + 1, test.end_point[0] + 1)
                    text = self._text(test)
                    for part, holds in ((body, True), (other, False)):
                        serial += 1
                        guard = [(text, holds, *lines)]
                        events.append((part.start_byte, -part.end_byte, -serial, "guard", guard))
        events.sort()  # no two have the same serial number
        handlers = {name: getattr(self, f"_on_{name}") for name in _HANDLED}
        scopes, guards = self.scope_stack, self.guard_stack
        for start, negative_end, _, name, payload in events:
            while scopes[-1][0] <= start:
                scopes.pop()
            while guards and guards[-1][0] <= start:
                guards.pop()
            if name == "guard":
                for text, holds, line, end_line in payload:
                    self.facts.guards.append(Guard(self._guard(), text, holds, line, end_line))
                    guards.append((-negative_end, len(self.facts.guards) - 1))
            elif (handler := handlers.get(name)) is not None:
                handler(payload)
        return self.facts

    def _text(self, node: Any) -> str:
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_TEXT:
            return "..."
        if self.plain is not None:
            text = self.plain[start:end]
        else:
            text = self.source[start:end].decode("utf-8", "replace")
        if "\n" not in text:
            return text
        if "#" in text:
            text = _COMMENT.sub(lambda match: match.group(1) or "", text)
        return " ".join(text.split())

    def _field(self, node: Any, name: str) -> str:
        child = node.child_by_field_name(name)
        return self._text(child) if child is not None else ""

    def _guard(self) -> int:
        return self.guard_stack[-1][1] if self.guard_stack else -1

    def _scope(self) -> Scope:
        return self.facts.scopes[self.scope_stack[-1][1]]

    def _branches(self, node: Any) -> list[tuple[int, int, list[tuple[str, bool, int, int]]]]:
        """Return the byte ranges of an if's branches, each with the conditions that lead there.

        The code after a branch that can't fall through runs only when that branch was not taken.
        """
        found: list[tuple[int, int, list[tuple[str, bool, int, int]]]] = []
        earlier: list[tuple[str, bool, int, int]] = []
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

    def _open(self, node: Any, scope: Scope) -> None:
        scope.parent = self.scope_stack[-1][1]
        scope.guard = self._guard()
        parent = node.parent
        if parent is not None and parent.type == "decorated_definition":
            scope.decorators = [self._text(c)[1:].strip() for c in parent.children if c.type == "decorator"]
        self.facts.scopes.append(scope)
        self.scope_stack.append((node.end_byte, len(self.facts.scopes) - 1))

    def _on_class(self, node: Any) -> None:
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        scope = Scope("class", self._field(node, "name"), first, last, 0)
        scope.bases = self._field(node, "superclasses")
        self._open(node, scope)

    def _on_function(self, node: Any) -> None:
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        scope = Scope("function", self._field(node, "name"), first, last, 0)
        scope.returns_annotation = self._field(node, "return_type")
        parameters = node.child_by_field_name("parameters")
        scope.parameters = [
            p for p in map(self._parameter, parameters.named_children if parameters else ()) if p is not None
        ]
        scope.stub = self._is_stub(node.child_by_field_name("body"))
        self._open(node, scope)

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

    def _on_import(self, node: Any) -> None:
        for child in node.named_children:
            if child.type == "aliased_import":
                dotted = self._field(child, "name")
                entry = Import(
                    node.start_point[0] + 1, self._field(child, "alias"), dotted, "", self._guard()
                )
            else:
                dotted = self._text(child)
                root = dotted.split(".")[0]
                # ``import a.b`` binds ``a``; the module that is reached through it is kept beside it
                entry = Import(node.start_point[0] + 1, root, root, "", self._guard())
            self._scope().imports.append(entry)

    def _on_import_from(self, node: Any) -> None:
        module = self._field(node, "module_name").replace(" ", "")
        line = node.start_point[0] + 1
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, local = self._field(child, "name"), self._field(child, "alias")
            else:
                name = local = self._text(child)
            self._scope().imports.append(Import(line, local, module, name, self._guard()))
        if any(child.type == "wildcard_import" for child in node.children):
            self._scope().imports.append(Import(line, "*", module, "*", self._guard()))

    def _on_call(self, node: Any) -> None:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None or arguments is None:
            return
        self._scope().calls.append(
            Call(
                callee.end_point[0] + 1,
                node.end_point[0] + 1,
                self._text(callee),
                self._text(arguments),
                self._guard(),
                node.start_point[0] + 1,
            )
        )

    def _on_attribute(self, node: Any) -> None:
        start, end = node.start_byte, node.end_byte
        if start == self.last_attribute[0] and end <= self.last_attribute[1]:
            return
        text = self._text(node) if end - start <= MAX_READ else "("
        if text.replace(".", "").isidentifier():
            self.last_attribute = (start, end)  # its prefixes say nothing new; a chain with calls keeps them
        elif text == "(":
            return
        self._scope().reads.append((node.end_point[0] + 1, text, self._guard()))

    def _store(self, node: Any, target: Any, value: str, annotation: str, kind: str) -> None:
        if target is None:
            return
        line = node.start_point[0] + 1
        self._scope().stores.append(Store(line, self._text(target), value, annotation, kind, self._guard()))

    def _on_assignment(self, node: Any) -> None:
        right = node.child_by_field_name("right")
        value = self._text(right) if right is not None else ""
        self._store(node, node.child_by_field_name("left"), value, self._field(node, "type"), "=")
        if right is not None and right.type == "assignment":  # a = b = v: every target gets the last value
            last = right
            while last is not None and last.type == "assignment":
                last = last.child_by_field_name("right")
            if last is not None:
                self._store(node, node.child_by_field_name("left"), self._text(last), "", "=")

    def _on_augmented(self, node: Any) -> None:
        self._store(node, node.child_by_field_name("left"), self._field(node, "right"), "", "+=")

    def _on_walrus(self, node: Any) -> None:
        self._store(node, node.child_by_field_name("name"), self._field(node, "value"), "", "=")

    def _on_for(self, node: Any) -> None:
        self._store(node, node.child_by_field_name("left"), self._field(node, "right"), "", "for")

    def _on_as(self, node: Any) -> None:
        if len(node.named_children) == 2:
            self._store(node, node.named_children[1], self._text(node.named_children[0]), "", "with")

    def _on_return(self, node: Any) -> None:
        value = self._text(node.named_children[0]) if node.named_child_count else ""
        self._scope().returns.append(Return(node.start_point[0] + 1, value, self._guard()))
