"""Reading one file's ``RuleFacts``: an extractor for ``indexer.syntax.facts``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node, Tree

from indexer.extract.rules.effects import SHAPES, Shapes
from indexer.extract.rules.expressions import LITERALS, expression, unwrap
from indexer.extract.rules.facts import Function, RuleFacts
from indexer.extract.rules.flow import FunctionWalker
from indexer.syntax.facts import Extractor
from indexer.syntax.parse import end_line, line, text

_DECIDING = ("conditions", "effects", "expressions", "facts", "flow", "loops", "messages")
_CONTAINERS = {"list", "tuple", "set", "dictionary"}
_COMPOUND = {
    "block", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "finally_clause",
    "with_statement", "for_statement", "while_statement", "match_statement", "case_clause",
}  # fmt: skip
PER_REQUEST = {
    "forward_batch", "batch", "req", "reqs", "recv_req", "input_ids", "layer", "hidden_states",
    "schedule_batch", "model_worker_batch", "logits_output", "positions", "local_batch",
}  # fmt: skip
"""Parameters of functions that serve requests, long after a launch was accepted."""


def read_file(path: str, source: bytes, tree: Tree) -> RuleFacts:
    """Return what every function of a file does, each with its guard.

    Functions that work on a request or a batch are left out: they say nothing about a launch.
    """
    root = tree.root_node
    reader = _Reader(root, source)
    return RuleFacts(
        [reader.body(), *(reader.function(one) for one in _functions(root, "") if one.at_launch)]
    )


class FunctionFinder:
    """Reads single functions of a file of which the rest does not matter."""

    def __init__(self, tree: Tree, source: bytes) -> None:
        self._source = source
        self._literals = _module_literals(tree.root_node)
        self._found: dict[str, list[_Found]] = {}
        for one in _functions(tree.root_node, ""):
            self._found.setdefault(one.qualname, []).append(one)

    def read(self, qualname: str) -> list[Function]:
        """Return the functions of exactly this qualified name that matter to a launch."""
        found = [one for one in self._found.get(qualname, ()) if one.at_launch]
        return [_Reader(one.node, self._source, self._literals).function(one) for one in found]


EXTRACTOR = Extractor(
    "rules",
    read_file,
    RuleFacts,
    decided_by=(
        *(f"indexer.extract.rules.{module}" for module in _DECIDING),
        *(f"queries/rule_{shape}.scm" for shape in ("calls", *SHAPES)),
    ),
)


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


@dataclass
class _Found:
    qualname: str
    node: Node
    body: Node
    decorators: tuple[Node, ...]

    @property
    def at_launch(self) -> bool:
        parameters = self.node.child_by_field_name("parameters")
        names = {_parameter_name(child) for child in parameters.named_children} if parameters else set()
        return not names & PER_REQUEST


class _Reader:
    """Reads functions below one node, whose shapes are looked up once."""

    def __init__(self, root: Node, source: bytes, literals: dict[str, Node] | None = None) -> None:
        self._root = root
        self._shapes = Shapes(root, source)
        self._literals = _module_literals(root) if literals is None else literals

    def body(self) -> Function:
        """Return the module's own statements as a function without a name."""
        facts = Function("", 1, end_line(self._root))
        FunctionWalker(facts, self._shapes, self._literals).walk(self._root)
        return facts

    def function(self, found: _Found) -> Function:
        """Return one function's facts."""
        node = found.node
        decorators = tuple(expression(one) for one in found.decorators)
        facts = Function(found.qualname, line(node), end_line(node), decorators=decorators)
        _parameters(node, facts)
        FunctionWalker(facts, self._shapes, self._literals).walk(found.body)
        return facts


def _functions(node: Node, scope: str, decorators: tuple[Node, ...] = ()) -> Iterator[_Found]:
    for child in node.named_children:
        if child.type == "decorated_definition":
            above = tuple(
                one.named_children[0]
                for one in child.named_children
                if one.type == "decorator" and one.named_children
            )
            yield from _functions(child, scope, above)
        elif child.type in ("function_definition", "class_definition"):
            name, body = child.child_by_field_name("name"), child.child_by_field_name("body")
            if name is None or body is None:
                continue
            qualname = f"{scope}.{text(name)}" if scope else text(name)
            if child.type == "function_definition":
                yield _Found(qualname, child, body, decorators)
            yield from _functions(body, qualname)
        elif child.type in _COMPOUND:
            yield from _functions(child, scope)


def _parameter_name(node: Node) -> str | None:
    name = node.child_by_field_name("name") or (node if node.type == "identifier" else None)
    if name is None and node.type == "typed_parameter" and node.named_children:
        name = node.named_children[0]
    return text(name) if name is not None else None


def _parameters(node: Node, function: Function) -> None:
    parameters = node.child_by_field_name("parameters")
    names = []
    for child in parameters.named_children if parameters is not None else ():
        name = _parameter_name(child)
        if name is None:
            continue
        names.append(name)
        annotation, default = child.child_by_field_name("type"), child.child_by_field_name("value")
        if annotation is not None:
            function.annotations[name] = text(annotation)
        if default is not None and unwrap(default).type in LITERALS:
            function.defaults[name] = text(unwrap(default))
    function.parameters = tuple(names)
