"""From index records back to syntax nodes, and walks within one function."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.parse import text

_SCOPES = ("function_definition", "class_definition", "lambda")


def node_of(graph: ModuleGraph, definition: Definition) -> Node | None:
    """Return the ``class``, ``def`` or assignment node of a definition inside the tree."""
    if definition.path is None or definition.record is None:
        return None
    name = definition.qualname.rpartition(".")[2]
    for node in graph.outline_nodes(definition.path).get(definition.record.line, []):
        target = node.child_by_field_name("name") or node.child_by_field_name("left")
        if target is not None and name in text(target).replace("(", " ").replace(",", " ").split():
            return node
    return None


def own_nodes(function: Node, kinds: tuple[str, ...]) -> Iterator[Node]:
    """Yield the nodes of some types below a function's body, not those of functions inside it."""
    body = function.child_by_field_name("body")
    queue = list(reversed(body.children)) if body else []
    while queue:
        node = queue.pop()
        if node.type in kinds:
            yield node
        if node.type not in _SCOPES:
            queue.extend(reversed(node.children))


def keyword_arguments(call: Node) -> dict[str, Node]:
    """Return the value nodes of a call's keyword arguments by name."""
    arguments = call.child_by_field_name("arguments")
    result: dict[str, Node] = {}
    for child in arguments.named_children if arguments else []:
        if child.type == "keyword_argument":
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is not None and value is not None:
                result[text(name)] = value
    return result


def positional_arguments(call: Node) -> list[Node]:
    """Return the nodes of a call's positional arguments (``*splats`` included)."""
    arguments = call.child_by_field_name("arguments")
    skipped = ("keyword_argument", "dictionary_splat", "comment")
    return [child for child in (arguments.named_children if arguments else []) if child.type not in skipped]


def annotation_parts(annotation: Node) -> tuple[str, list[Node]]:
    """Return the head and the arguments of an annotation ``Head[a, b]``.

    tree-sitter reads ``A[int, "h"]`` in a declaration as ``generic_type`` and ``m.A[int, "h"]`` as
    ``subscript``: both give the same here. An annotation without brackets has no arguments.
    """
    node = annotation
    while node.type == "type" and node.named_child_count == 1:
        node = node.named_children[0]
    if node.type == "subscript":
        value = node.child_by_field_name("value")
        return text(value) if value else "", node.children_by_field_name("subscript")
    if node.type == "generic_type":
        head, *rest = node.named_children
        arguments = rest[-1].named_children if rest else []
        return text(head), [
            one.named_children[0] if one.type == "type" and one.named_child_count == 1 else one
            for one in arguments
        ]
    return text(node), []
