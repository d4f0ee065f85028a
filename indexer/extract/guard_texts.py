"""Deciding the guards of rules, which are kept as source text, for an algorithm or an architecture."""

from __future__ import annotations

from tree_sitter import Node, Tree

from indexer.extract.reduction import Place, Reducer, negated
from indexer.knowledge.schema import Condition, Rule
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.parse import parse


class GuardTexts:
    """Parses each condition once and remembers what it is for each subject."""

    def __init__(self, graph: ModuleGraph, reducer: Reducer) -> None:
        self.graph = graph
        self.reducer = reducer
        self._trees: dict[str, Tree] = {}
        self._reduced: dict[tuple[str, str, str], tuple[bool | None, str]] = {}

    def node(self, condition: Condition) -> Node | None:
        """Return the condition's expression, None where it is no single expression (``for x in y``)."""
        if condition.text not in self._trees:
            self._trees[condition.text] = parse(condition.text.encode())
        statements = self._trees[condition.text].root_node.named_children
        if len(statements) != 1 or statements[0].type != "expression_statement":
            return None
        return statements[0].named_children[0]

    def reduce(self, condition: Condition, rule: Rule, subject: str) -> tuple[bool | None, str]:
        """Return whether the condition's test holds for a subject, and what is left to decide."""
        if not self.reducer.hint.search(condition.text):
            return None, condition.text
        key = (condition.text, (condition.at or rule.at).path, subject)
        found = self._reduced.get(key)
        if found is None:
            module, node = self.graph.module(key[1]), self.node(condition)
            known = module is not None and node is not None
            found = self.reducer.reduce(node, subject, Place(module)) if known else (None, condition.text)  # type: ignore[arg-type]
            self._reduced[key] = found
        return found

    def path(self, rule: Rule, subject: str) -> list[str] | None:
        """Return the source of what is left of a rule's tests; None where it never applies."""
        left = []
        for condition in tests(rule):
            value, rest = self.reduce(condition, rule, subject)
            if value is None:
                left.append(rest if condition.holds else negated(rest))
            elif value is not condition.holds:
                return None
        return left


def tests(rule: Rule) -> list[Condition]:
    """Return the tests that a rule needs: its guards, and for an assertion that it does not hold."""
    if rule.kind != "assert":
        return rule.guard
    return [*rule.guard, *(Condition(value, False, rule.at) for value in rule.values)]
