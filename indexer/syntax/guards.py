"""The conditions under which a statement of a function is reached.

A statement inherits the tests of the ``if`` statements around it, the negated tests of earlier branches
of the same chain, and the negated tests of earlier blocks that always leave (``return``, ``raise``,
``continue``, ``break``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

_LEAVING = ("return_statement", "raise_statement", "continue_statement", "break_statement")
_NESTED = ("function_definition", "class_definition", "decorated_definition")
_COMPOUND = ("if_statement", "for_statement", "while_statement", "with_statement", "try_statement")


@dataclass(frozen=True)
class Guard:
    """One test on the way to a statement, and whether it holds there."""

    test: Node
    holds: bool = True


@dataclass(frozen=True)
class Guarded:
    """A simple statement with the tests that lead to it, outermost first.

    ``certain`` is False inside ``except`` and in loops' ``else``, where more than tests decides.
    """

    statement: Node
    guards: tuple[Guard, ...]
    certain: bool = True


def guarded_statements(function: Node) -> Iterator[Guarded]:
    """Yield the simple statements of a function (or module) in source order, each with its tests.

    Bodies of functions and classes inside it are left out.
    """
    body = function.child_by_field_name("body") or function
    yield from _block(body, (), True)


def _block(block: Node, guards: tuple[Guard, ...], certain: bool) -> Iterator[Guarded]:
    for statement in block.named_children:
        if statement.type == "if_statement":
            yield from _if(statement, guards, certain)
            guards = (*guards, *_after_if(statement))
        elif statement.type in _COMPOUND:
            yield from _compound(statement, guards, certain)
        elif statement.type not in (*_NESTED, "comment"):
            yield Guarded(statement, guards, certain)


def _if(statement: Node, guards: tuple[Guard, ...], certain: bool) -> Iterator[Guarded]:
    failed: tuple[Guard, ...] = ()
    for test, block in branches(statement):
        own = (Guard(test),) if test is not None else ()
        yield from _block(block, (*guards, *failed, *own), certain)
        if test is not None:
            failed = (*failed, Guard(test, False))


def branches(statement: Node) -> list[tuple[Node | None, Node]]:
    """Return the (test, block) pairs of an ``if`` statement; the ``else`` has no test."""
    result: list[tuple[Node | None, Node]] = []
    for part in (statement, *statement.children_by_field_name("alternative")):
        test = part.child_by_field_name("condition")
        block = part.child_by_field_name("consequence") or part.child_by_field_name("body")
        if block is not None:
            result.append((test, block))
    return result


def _after_if(statement: Node) -> tuple[Guard, ...]:
    """Return what is known after an ``if``: tests whose branch always leaves did not hold."""
    known: list[Guard] = []
    for test, block in branches(statement):
        if test is None or not leaves(block):
            break
        known.append(Guard(test, False))
    return tuple(known)


def leaves(block: Node) -> bool:
    """Return whether control never comes out at the end of a block."""
    statements = [one for one in block.named_children if one.type != "comment"]
    if not statements:
        return False
    last = statements[-1]
    if last.type == "if_statement":
        parts = branches(last)
        return parts[-1][0] is None and all(leaves(one) for _, one in parts)
    if last.type == "with_statement":
        inner = last.child_by_field_name("body")
        return inner is not None and leaves(inner)
    return last.type in _LEAVING


def _compound(statement: Node, guards: tuple[Guard, ...], certain: bool) -> Iterator[Guarded]:
    """Yield from a loop, ``with`` or ``try``: their bodies keep the tests around them."""
    for child in statement.named_children:
        if child.type == "block":
            yield from _block(child, guards, certain)
        elif child.type in ("except_clause", "except_group_clause", "else_clause", "finally_clause"):
            sure = certain and child.type == "finally_clause"
            for block in child.named_children:
                if block.type == "block":
                    yield from _block(block, guards, sure)
