"""Where each literal value of a list-like expression is written.

The expression is followed through names, imports, concatenation, ``*unpacking``, ``list()`` and its
kin, comprehensions over enums, helper functions in other modules, and lists that grow later. Values
are only located here: what the list really holds is evaluated elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from indexer.knowledge.schema import Location, Unknown
from indexer.syntax import queries
from indexer.syntax.graph import Definition, ModuleGraph
from indexer.syntax.module import Module
from indexer.syntax.nodes import annotation_parts, node_of, own_nodes, positional_arguments
from indexer.syntax.parse import line, location, text

Literal = str | int | float | bool | None

_LITERALS = ("string", "concatenated_string", "integer", "float", "true", "false", "none", "unary_operator")
_COPIES = (
    "list",
    "set",
    "tuple",
    "frozenset",
    "sorted",
    "dict.fromkeys",
    "iter",
    "get_args",
    "typing.get_args",
)
_VIEWS = ("keys", "copy", "union", "get", "difference", "members")
_DEEPEST = 12


@dataclass
class LiteralSites:
    """The places of literal values, and what was not followed.

    ``conditions`` holds the source of the ``if`` around a value that is added only then; ``open_at`` is
    where plugins can add more.
    """

    values: dict[Literal, Location] = field(default_factory=dict)
    conditions: dict[Literal, str] = field(default_factory=dict)
    open_at: Location | None = None
    unknown: list[Unknown] = field(default_factory=list)

    def add(self, other: LiteralSites) -> None:
        """Take over what ``other`` found; a value keeps the place found first."""
        for value, at in other.values.items():
            if value not in self.values and value in other.conditions:
                self.conditions[value] = other.conditions[value]
            self.values.setdefault(value, at)
        self.open_at = self.open_at or other.open_at
        self.unknown.extend(other.unknown)


class LiteralTracer:
    """Follows expressions of one tree to their literals."""

    def __init__(self, graph: ModuleGraph) -> None:
        self.graph = graph
        self._locals: dict[tuple[str, str], dict[str, list[Node]]] = {}
        self._growths: dict[str, list[tuple[str, Node, Node | None]]] = {}

    def trace(self, node: Node, module: Module, scope: str = "", depth: int = 0) -> LiteralSites:
        """Return where the literals of an expression are written.

        ``scope`` is the qualified name of the function or class that the expression stands in.
        """
        if depth > _DEEPEST:
            return self._unknown(node, module, "followed too deep")
        kind = node.type
        if kind in _LITERALS:
            return self._literal(node, module)
        if kind in ("list", "tuple", "set", "parenthesized_expression", "expression_list"):
            return self._join(node.named_children, module, scope, depth)
        if kind in ("list_splat", "await", "type"):
            return self._join(node.named_children, module, scope, depth)
        if kind in ("binary_operator", "boolean_operator"):
            sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
            return self._join([side for side in sides if side], module, scope, depth)
        if kind == "conditional_expression":
            first, _, last = [child for child in node.named_children if child.type != "comment"][:3]
            return self._join([first, last], module, scope, depth)
        if kind == "dictionary":
            keys = [pair.child_by_field_name("key") for pair in node.named_children if pair.type == "pair"]
            return self._join([key for key in keys if key], module, scope, depth)
        if kind in ("list_comprehension", "set_comprehension", "generator_expression"):
            return self._comprehension(node, module, scope, depth)
        if kind == "call":
            return self._call(node, module, scope, depth)
        if kind in ("identifier", "attribute"):
            return self._name(node, module, scope, depth)
        if kind in ("subscript", "generic_type"):
            head, arguments = annotation_parts(node)
            if head.rpartition(".")[2] in ("Literal", "Optional", "Union", "List", "list", "Annotated", "A"):
                return self._join(arguments, module, scope, depth)
        if kind == "comment":
            return LiteralSites()
        return self._unknown(node, module, f"a {kind.replace('_', ' ')} is not followed")

    def _unknown(self, node: Node, module: Module, reason: str) -> LiteralSites:
        return LiteralSites(unknown=[Unknown(reason, Location(module.path, line(node)))])

    def _literal(self, node: Node, module: Module) -> LiteralSites:
        try:
            value = ast.literal_eval(text(node))
        except (ValueError, SyntaxError):
            return self._unknown(node, module, "the string is computed")
        if not isinstance(value, (str, int, float, bool, type(None))):
            return self._unknown(node, module, f"a {type(value).__name__} literal")
        return LiteralSites({value: location(node, module.path)})

    def _join(self, nodes: Iterable[Node], module: Module, scope: str, depth: int) -> LiteralSites:
        result = LiteralSites()
        for node in nodes:
            result.add(self.trace(node, module, scope, depth + 1))
        return result

    def _call(self, node: Node, module: Module, scope: str, depth: int) -> LiteralSites:
        function = node.child_by_field_name("function")
        arguments = positional_arguments(node)
        if function is None:
            return self._unknown(node, module, "the called thing is not a name")
        name = text(function)
        if name in _COPIES:
            return self._join(arguments[:1], module, scope, depth)
        if function.type == "attribute" and name.rpartition(".")[2] in _VIEWS:
            owner = function.child_by_field_name("object")
            return self.trace(owner, module, scope, depth + 1) if owner else LiteralSites()
        definition = self.graph.resolve(module, name, scope)
        if definition is None or definition.kind != "function":
            return self._unknown(node, module, f"{name}() is not followed")
        return self._function(definition, depth)

    def _function(self, definition: Definition, depth: int) -> LiteralSites:
        """Join what a helper returns."""
        node, module = node_of(self.graph, definition), self.graph.module(definition.module)
        result = LiteralSites()
        if node is None or module is None:
            return result
        for returned in own_nodes(node, ("return_statement",)):
            result.add(self._join(returned.named_children, module, definition.qualname, depth))
        return result

    def _comprehension(self, node: Node, module: Module, scope: str, depth: int) -> LiteralSites:
        body, clause = node.child_by_field_name("body"), None
        for child in node.named_children:
            if child.type == "for_in_clause":
                clause = child
        left = clause.child_by_field_name("left") if clause else None
        right = clause.child_by_field_name("right") if clause else None
        if body is None or left is None or right is None:
            return self._unknown(node, module, "the comprehension is not followed")
        source = self.trace(right, module, scope, depth + 1)
        change = _VALUE_CHANGES.get(text(body).replace(text(left), "_", 1))
        if change is None:
            return self._unknown(node, module, f"each element becomes {text(body)}")
        values = {change(one) if isinstance(one, str) else one: at for one, at in source.values.items()}
        return LiteralSites(values, open_at=source.open_at, unknown=source.unknown)

    # -- names -----------------------------------------------------------------------------------

    def _name(self, node: Node, module: Module, scope: str, depth: int) -> LiteralSites:
        name = text(node)
        local = self._local(name, module, scope, depth)
        if local is not None:
            return local
        definition = self._defined(name, module, scope)
        if definition is None:
            return self._unknown(node, module, f"{name} is not found in the tree")
        return self._definition(definition, depth)

    def _defined(self, name: str, module: Module, scope: str) -> Definition | None:
        found = self.graph.resolve(module, name, scope)
        if found is None and "." in name:
            found = self._through_loaded_module(name, module, scope)
        return found

    def _through_loaded_module(self, name: str, module: Module, scope: str) -> Definition | None:
        """Resolve ``m.X`` where the function has ``m = sys.modules.get("dotted.name")``."""
        first, _, rest = name.partition(".")
        for value in self._assigned(first, module, scope):
            arguments = positional_arguments(value) if value.type == "call" else []
            if arguments and text(value).startswith("sys.modules.get("):
                dotted = text(arguments[0]).strip("'\"")
                return self.graph.resolve_dotted(f"{dotted}.{rest}")
        return None

    def _assigned(self, name: str, module: Module, scope: str) -> list[Node]:
        """Return the values assigned to a local name in the function around the place."""
        key = (module.path, scope)
        if key not in self._locals:
            by_name: dict[str, list[Node]] = {}
            for function in self._functions(module, scope):
                for node in own_nodes(function, ("assignment",)):
                    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                    if left is not None and right is not None:
                        by_name.setdefault(text(left), []).append(right)
            self._locals[key] = by_name
        return self._locals[key].get(name, [])

    def _functions(self, module: Module, scope: str) -> list[Node]:
        if not scope:
            return []
        found = (node_of(self.graph, one) for one in self.graph.definitions(module, scope))
        return [node for node in found if node is not None and node.type == "function_definition"]

    def _local(self, name: str, module: Module, scope: str, depth: int) -> LiteralSites | None:
        values = self._assigned(name, module, scope)
        if not values:
            return None
        result = self._join(values, module, scope, depth)
        for function in self._functions(module, scope):
            result.add(self._growth(name, function, module, scope, depth))
        return result

    def _definition(self, definition: Definition, depth: int) -> LiteralSites:
        module, node = self.graph.module(definition.module), node_of(self.graph, definition)
        if module is None or node is None:
            return LiteralSites(unknown=[Unknown(f"{definition.dotted} is outside the tree")])
        scope = definition.qualname.rpartition(".")[0]
        if definition.kind == "assignment":
            right = node.child_by_field_name("right")
            result = self.trace(right, module, scope, depth + 1) if right else LiteralSites()
            root = self.graph.syntax(module.path).root_node
            result.add(self._growth(definition.qualname, root, module, scope, depth))
            return result
        if definition.kind == "class":
            return self._members(definition, module, depth)
        return self._unknown(node, module, f"{definition.dotted} is a {definition.kind}")

    def _members(self, definition: Definition, module: Module, depth: int) -> LiteralSites:
        """Return the members of an enum, by value where it is a literal and by name otherwise."""
        result = LiteralSites()
        for record in module.assignments:
            owner, _, name = record.qualname.rpartition(".")
            if owner != definition.qualname or name.startswith("_") or record.value is None:
                continue
            at = Location(module.path, record.line, record.end_line, record.qualname)
            result.values.setdefault(name, at)
            try:
                value = ast.literal_eval(record.value)
            except (ValueError, SyntaxError):
                continue
            if isinstance(value, str):
                result.values.setdefault(value, at)
        return result

    def _growth(self, name: str, root: Node, module: Module, scope: str, depth: int) -> LiteralSites:
        """Return what is added to a collection after its assignment, and whether plugins can add."""
        result = LiteralSites()
        for shape, grown, added in self._extensions(module):
            if text(grown) != name or not root.start_byte <= grown.start_byte < root.end_byte:
                continue
            statement = grown.parent or grown
            function = self._function_taking(added) if shape == "grown" and added else None
            if shape == "bound" or function is not None:
                result.open_at = result.open_at or location(function or statement, module.path)
            elif added is not None:
                more = self.trace(added, module, scope, depth + 1)
                condition = _condition_of(statement, root)
                if condition:
                    more.conditions.update(dict.fromkeys(more.values, condition))
                result.add(more)
        return result

    def _extensions(self, module: Module) -> list[tuple[str, Node, Node | None]]:
        """Return (shape, grown collection, what is added) of every growth in a file."""
        if module.path not in self._growths:
            found: list[tuple[str, Node, Node | None]] = []
            for match in queries.matches("extensions", self.graph.syntax(module.path).root_node):
                if "grown" in match:
                    found.append(("grown", match["grown"][0], match["by"][0]))
                elif "plus" in match:
                    found.append(("plus", match["plus"][0], match["added"][0]))
                else:
                    found.append(("bound", match["bound"][0], None))
            self._growths[module.path] = found
        return self._growths[module.path]

    @staticmethod
    def _function_taking(node: Node) -> Node | None:
        """Return the enclosing function where the added thing is one of its parameters."""
        around = node.parent
        while around is not None and around.type != "function_definition":
            around = around.parent
        parameters = around.child_by_field_name("parameters") if around else None
        if parameters is None or node.type != "identifier":
            return None
        names = {text(one).partition(":")[0].partition("=")[0].strip() for one in parameters.named_children}
        return around if text(node) in names else None


def _condition_of(node: Node, root: Node) -> str | None:
    """Return the condition of the innermost ``if`` around a node whose body holds it."""
    child, around = node, node.parent
    while around is not None and around.id != root.id:
        if around.type == "if_statement" and around.child_by_field_name("consequence") == child:
            condition = around.child_by_field_name("condition")
            return text(condition) if condition else None
        child, around = around, around.parent
    return None


_VALUE_CHANGES: dict[str, Callable[[str], str]] = {
    "_": str,
    "_.value": str,
    "_.name": str,
    "_.name.lower()": str.lower,
    "_.value.lower()": str.lower,
    "_.lower()": str.lower,
    "_.upper()": str.upper,
    "str(_)": str,
}
