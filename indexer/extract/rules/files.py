"""Reading one file's ``RuleFacts``: an extractor for ``indexer.syntax.facts``."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node, Tree

from indexer.extract.rules.effects import Marks, marks
from indexer.extract.rules.expressions import LITERALS, expression, unwrap
from indexer.extract.rules.facts import FACTS_VERSION, Expr, Function, RuleFacts
from indexer.extract.rules.flow import FunctionWalker
from indexer.syntax.facts import Extractor
from indexer.syntax.parse import end_line, line, text

_CONTAINERS = {"list", "tuple", "set", "dictionary"}


def read_file(path: str, source: bytes, tree: Tree) -> RuleFacts:
    """Return what every function of a file does, each with its guard."""
    root = tree.root_node
    claimed = marks(root)
    literals = _module_literals(root)
    body = Function("", 1, end_line(root))
    FunctionWalker(body, claimed, literals).walk(root)
    return RuleFacts([body, *_functions(root, "", claimed, literals)])


EXTRACTOR = Extractor("rules", FACTS_VERSION, read_file, RuleFacts)


def _module_literals(root: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for statement in root.named_children:
        if statement.type != "expression_statement" or not statement.named_children:
            continue
        node = statement.named_children[0]
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "assignment" and left is not None and right is not None and left.type == "identifier":
            found[text(left)] = unwrap(right)
    return {name: node for name, node in found.items() if node.type in _CONTAINERS}


def _functions(
    node: Node, scope: str, claimed: Marks, literals: dict[str, Node], decorators: tuple[Expr, ...] = ()
) -> Iterator[Function]:
    for child in node.named_children:
        if child.type == "decorated_definition":
            marks_above = tuple(
                expression(one.named_children[0])
                for one in child.named_children
                if one.type == "decorator" and one.named_children
            )
            yield from _functions(child, scope, claimed, literals, marks_above)
        elif child.type in ("function_definition", "class_definition"):
            name, body = child.child_by_field_name("name"), child.child_by_field_name("body")
            if name is None or body is None:
                continue
            qualname = f"{scope}.{text(name)}" if scope else text(name)
            if child.type == "function_definition":
                function = Function(qualname, line(child), end_line(child), decorators=decorators)
                _parameters(child, function)
                FunctionWalker(function, claimed, literals).walk(body)
                yield function
            yield from _functions(body, qualname, claimed, literals)
        elif child.type not in ("expression_statement", "comment", "import_statement", "import_from_statement"):
            yield from _functions(child, scope, claimed, literals)


def _parameters(node: Node, function: Function) -> None:
    parameters = node.child_by_field_name("parameters")
    names = []
    for child in parameters.named_children if parameters is not None else ():
        if child.type == "comment":
            continue
        name = child.child_by_field_name("name") or (child if child.type == "identifier" else None)
        if name is None and child.type == "typed_parameter" and child.named_children:
            name = child.named_children[0]
        if name is None:
            continue
        names.append(text(name))
        annotation, default = child.child_by_field_name("type"), child.child_by_field_name("value")
        if annotation is not None:
            function.annotations[text(name)] = text(annotation)
        if default is not None and unwrap(default).type in LITERALS:
            function.defaults[text(name)] = text(unwrap(default))
    function.parameters = tuple(names)
