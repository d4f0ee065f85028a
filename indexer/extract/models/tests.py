"""Deciding tests on the model for one architecture: ``arch in [...]``, ``"X" in arch``, ``isinstance``."""

from __future__ import annotations

import re

from tree_sitter import Node

from indexer.extract.literal_sites import LiteralSites, LiteralTracer
from indexer.extract.models.configs import ConfigClass
from indexer.extract.reduction import Place, Reducer, local_value
from indexer.knowledge.schema import Location
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.nodes import positional_arguments
from indexer.syntax.parse import line, location, string_value, text

_ONE = re.compile(r"(^|[._])(model_)?arch(itecture)?$|architectures\[0\]$")
_MANY = re.compile(r"(^|[._])(model_)?arch(itecture)?s$")


class ArchitectureTests(Reducer):
    """Evaluates tests over architecture names and the configuration classes they are served with."""

    hint = re.compile(r"arch|isinstance")

    def __init__(self, graph: ModuleGraph, configs: dict[str, ConfigClass]) -> None:
        self.graph = graph
        self.configs = configs
        self._tracer = LiteralTracer(graph)
        self._traced: dict[tuple[str, str, int, str], LiteralSites] = {}
        self._asked: dict[tuple[str, str, int, str], LiteralSites] = {}

    def leaf(self, node: Node, subject: str, place: Place) -> bool | None:
        if node.type == "comparison_operator":
            return self._comparison(node, subject, place)
        if node.type == "call":
            function = text(node.child_by_field_name("function") or node)
            if function == "isinstance":
                return self._isinstance(node, subject, place)
            if function in ("any", "bool"):
                return self._any(node, subject, place)
        return None

    def _comparison(self, node: Node, subject: str, place: Place) -> bool | None:
        operands = [child for child in node.named_children if child.type != "comment"]
        operator = " ".join(text(child) for child in node.children_by_field_name("operators"))
        if len(operands) != 2:
            return None
        left, right = operands
        if operator in ("==", "!=") and _ONE.search(text(left)):
            value = string_value(right)
            return None if value is None else (value == subject) is (operator == "==")
        if operator in ("in", "not in"):
            inside = self._membership(left, right, subject, place)
            return None if inside is None else inside is (operator == "in")
        return None

    def _membership(self, left: Node, right: Node, subject: str, place: Place) -> bool | None:
        word = string_value(left)
        if word is not None:
            if _ONE.search(text(right)):
                return word in subject
            return word == subject if _MANY.search(text(right)) else None
        if _ONE.search(text(left)):
            found = self._trace(right, place)
            if subject in found.values:
                return True
            return None if found.unknown or not found.values else False
        return None

    def _trace(self, node: Node, place: Place) -> LiteralSites:
        key = (place.module.path, place.scope, node.start_byte, text(node))
        if key not in self._traced:
            self._traced[key] = self._tracer.trace(node, place.module, place.scope)
        return self._traced[key]

    def _any(self, node: Node, subject: str, place: Place) -> bool | None:
        """Decide ``any(a in SET for a in architectures)``."""
        arguments = positional_arguments(node)
        generator = arguments[0] if arguments else node.child_by_field_name("arguments")
        body = generator.child_by_field_name("body") if generator else None
        if body is None or body.type != "comparison_operator" or "architectures" not in text(node):
            return None
        left, right = body.named_children[0], body.named_children[-1]
        return self._membership(left, right, subject, place)

    def _isinstance(self, node: Node, subject: str, place: Place) -> bool | None:
        config = self.configs.get(subject)
        arguments = positional_arguments(node)
        if config is None or not config.names or len(arguments) != 2 or "config" not in text(arguments[0]):
            return None
        return self.config_match(arguments[1], config, place, text(arguments[0])) is not None

    # -- places ----------------------------------------------------------------------------------

    def config_match(
        self, classes: Node, config: ConfigClass, place: Place, subject: str = "config"
    ) -> tuple[str, Location] | None:
        """Return the class of an ``isinstance`` test that a configuration is one of, and its place.

        ``subject`` is what is tested, as source: where it is a text configuration, the architecture's own
        class counts first and its text configuration's classes next.
        """
        named = dict(self._class_nodes(classes, place))
        is_text = "text_config" in subject or any(
            "text_config" in text(value) for value in place.assigned.get(subject, ())
        )
        names = [*config.names[:1], *config.text_names] if is_text and config.text_names else config.names
        for name in names:
            if name in named:
                return name, location(named[name], place.module.path, name)
        return None

    def _class_nodes(self, node: Node, place: Place) -> list[tuple[str, Node]]:
        if node.type in ("tuple", "binary_operator", "parenthesized_expression", "list"):
            return [found for child in node.named_children for found in self._class_nodes(child, place)]
        if node.type == "identifier" and place.function is not None and not text(node).endswith("Config"):
            value = local_value(node, place)
            return self._class_nodes(value, place) if value is not None else []
        return [(text(node).rpartition(".")[2], node)]

    def architectures_in(self, node: Node, place: Place) -> LiteralSites:
        """Return the architecture names that a test asks for, with their places."""
        key = (place.module.path, place.scope, node.start_byte, text(node))
        if key not in self._asked:
            self._asked[key] = self._find_architectures(node, place)
        return self._asked[key]

    def _find_architectures(self, node: Node, place: Place) -> LiteralSites:
        result = LiteralSites()
        queue = [node]
        while queue:
            current = queue.pop(0)
            if current.type == "comparison_operator":
                operands = [child for child in current.named_children if child.type != "comment"]
                left, right = operands[0], operands[-1]
                if _ONE.search(text(left)) or (
                    current.parent and current.parent.type == "generator_expression"
                ):
                    result.add(self._trace(right, place))
                elif string_value(left) and (_ONE.search(text(right)) or _MANY.search(text(right))):
                    at = Location(place.module.path, line(left))
                    result.values.setdefault(string_value(left), at)
            else:
                queue.extend(current.named_children)
        return result

    def names(self, node: Node, place: Place, architecture: str) -> bool:
        """Return whether a test asks for the architecture by name or by its configuration class."""
        if architecture in self.architectures_in(node, place).values:
            return True
        return (
            "isinstance" in text(node)
            and self.decide(node, architecture, place) is not False
            and any(
                self._isinstance(call, architecture, place)
                for call in _calls(node)
                if text(call).startswith("isinstance(")
            )
        )


def _calls(node: Node) -> list[Node]:
    found = [node] if node.type == "call" else []
    for child in node.named_children:
        found += _calls(child)
    return found
