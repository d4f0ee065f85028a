"""Environment variables that the tree declares: descriptors on a class, and the deprecated ones."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from indexer.extract.replacements import instead, literal_text
from indexer.knowledge.schema import Deprecation, EnvVar, Location, Unknown, Value
from indexer.source.tree import PACKAGE_ROOT
from indexer.syntax.anchors import ancestor, anchors
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Assignment, Module
from indexer.syntax.nodes import keyword_arguments, node_of, positional_arguments
from indexer.syntax.parse import location, string_value, text

MODULE = f"{PACKAGE_ROOT}/srt/environ.py"
_FIELD_BASE = "EnvField"
_DEPRECATED_CALL = re.compile(rb"\b(_?\w*(?:[Dd]eprecated|[Rr]enamed)\w*)\s*\(")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,}$")
_OLD_NAME = re.compile(r"deprecated|old|alias|legacy")
"""Keywords by which a descriptor is given another name that it reads."""


def declared(graph: ModuleGraph) -> dict[str, EnvVar]:
    """Return the declared variables by name, in source order; none in trees without declarations."""
    module = graph.module(MODULE)
    found: dict[str, EnvVar] = {}
    for record in module.assignments if module else []:
        call = _descriptor(graph, module, record) if module else None
        if module is None or call is None:
            continue
        name = record.qualname.rpartition(".")[2]
        at = Location(module.path, record.line, record.end_line, name)
        kind = text(call.child_by_field_name("function") or call)
        arguments = positional_arguments(call)
        default = _value(arguments[0], at) if arguments else None
        found[name] = EnvVar(name, kind, default, at)
        named = [value for key, value in keyword_arguments(call).items() if _OLD_NAME.search(key)]
        for old in [*arguments[1:], *named]:  # a descriptor that also reads an old name
            replaced = string_value(old)
            if replaced and _VARIABLE.match(replaced):
                note = Deprecation(at, name, None)
                found[replaced] = EnvVar(replaced, kind, declared_at=at, deprecated=note)
    for name, note in _deprecations(graph, module) if module else ():
        known = found.setdefault(name, EnvVar(name))
        known.deprecated = known.deprecated or note
    return found


def _descriptor(graph: ModuleGraph, module: Module, record: Assignment) -> Node | None:
    """Return the call that makes a variable's descriptor, None for any other assignment."""
    head = (record.value or "").partition("(")[0]
    if "." not in record.qualname or not head.isidentifier() or not (record.value or "").endswith(")"):
        return None
    kind = graph.resolve(module, head)
    if kind is None or kind.kind != "class":
        return None
    if not any(one.qualname == _FIELD_BASE for one in graph.mro(kind)):
        return None
    node = node_of(graph, Definition("assignment", module.name, record.qualname, module.path, record))
    right = node.child_by_field_name("right") if node else None
    return right if right is not None and right.type == "call" else None


def _value(node: Node, at: Location) -> Value:
    """Return a default: its value, its source for constants of other types, or why it is unknown."""
    written = " ".join(text(node).split())
    try:
        return _fold(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, TypeError):
        pass
    if node.type in ("call", "lambda") and written not in ("tuple()", "set()", "list()", "dict()"):
        return Unknown(f"computed: {written}", at)
    if node.type == "identifier":
        return Unknown(f"computed by {written}", at)
    return {"repr": written}


def _fold(node: ast.expr) -> Value:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_fold(node.left), _fold(node.right))
    value = ast.literal_eval(node)
    if not isinstance(value, (str, int, float, bool, type(None))):
        raise ValueError("no JSON scalar")
    return value


_OPERATORS: dict[type, Callable] = {
    ast.Mult: operator.mul,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
}


def _deprecations(graph: ModuleGraph, module: Module) -> Iterator[tuple[str, Deprecation]]:
    """Yield what is said about old names: ``{"OLD": _DeprecatedEnv(...)}``, or calls ``f("NEW", "OLD")``."""
    source = graph.tree.read(module.path)
    for match, node in anchors(_DEPRECATED_CALL, source, graph.syntax(module.path).root_node, group=1):
        call = ancestor(node, "call")
        if call is None or text(call.child_by_field_name("function") or call) != match.group(1).decode():
            continue
        arguments = [value for one in positional_arguments(call) if (value := string_value(one))]
        keywords = keyword_arguments(call)
        pair = call.parent if call.parent is not None and call.parent.type == "pair" else None
        key = pair.child_by_field_name("key") if pair else None
        name = string_value(key) if key else None
        if name and pair is not None:
            replacement = keywords.get("replacement")
            note = _message(keywords.get("note"))
            use = string_value(replacement) if replacement else None
            yield name, Deprecation(location(pair, module.path, name), use or instead(note), note)
        elif len(arguments) == 2 and all(_VARIABLE.match(one) for one in arguments):
            old, new = arguments if _old_comes_first(match.group(1), source) else reversed(arguments)
            yield old, Deprecation(location(call, module.path, old), new, None)
        elif len(arguments) == 2 and _VARIABLE.match(arguments[0]):
            at = location(call, module.path, arguments[0])
            yield arguments[0], Deprecation(at, instead(arguments[1]), arguments[1])


def _old_comes_first(function: bytes, source: bytes) -> bool:
    """Whether a function's first parameter is the old name; both orders are met."""
    parameters = re.search(rb"def " + re.escape(function) + rb"\(\s*(\w+)[^,)]*,\s*(\w+)", source)
    return parameters is not None and b"old" in parameters[1] and b"old" not in parameters[2]


def _message(node: Node | None) -> str | None:
    if node is not None and node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    return literal_text(node) if node is not None and "string" in node.type else None
