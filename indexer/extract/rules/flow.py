"""One function's control flow: the guard of every effect and call in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from tree_sitter import Node

from indexer.extract.rules.conditions import conjuncts, constant, known_to_hold, negation
from indexer.extract.rules.effects import Shapes, Site, read_effects
from indexer.extract.rules.expressions import LITERALS, Bindings, chain, expression, literal, unwrap
from indexer.extract.rules.facts import Argument, Atom, CallSite, Definition, Expr, Function
from indexer.extract.rules.loops import unrolled
from indexer.syntax.parse import line, text

Guard = tuple[Atom, ...]


class Exit(NamedTuple):
    """A way out of a block: the tests, from its start, under which it is left, and how (return, raise,
    assert, loop). ``otherwise`` are the atoms that hold where the last test failed instead, once those
    ``before`` it held."""

    atoms: Guard
    how: str
    otherwise: Guard = ()
    before: Guard = ()


_LONGEST_EXIT = 5
_MOST_EXITS = 60
_LONGEST_ATOM = 400
_NESTED = {"function_definition", "class_definition", "decorated_definition"}
_CONTAINERS = {"list", "tuple", "set", "dictionary"}


@dataclass
class Flow:
    """What a block does to the code after it: how it always ends, or under which tests it leaves."""

    ends: str | None = None
    exits: list[Exit] = field(default_factory=list)


class FunctionWalker:
    """Walks a function body once, collecting effects, calls and local definitions with their guards."""

    def __init__(self, facts: Function, shapes: Shapes, module_literals: dict[str, Node]) -> None:
        self.facts = facts
        self._shapes = shapes
        self._module_literals = module_literals
        self._assigned: dict[str, Node] = {}
        self._literals: dict[str, Node | None] = {}

    def walk(self, body: Node) -> None:
        """Walk the body; the results are in ``facts``."""
        self._block(body, (), {})
        self.facts.globals = self._shapes.constants(body)

    # -- blocks --------------------------------------------------------------------------------

    def _block(self, block: Node, guard: Guard, bindings: Bindings) -> Flow:
        flow = Flow()
        start = line(block)
        for statement in block.named_children:
            if statement.type == "comment":
                continue
            inner = self._statement(statement, guard, bindings, start)
            flow.exits.extend(inner.exits[: _MOST_EXITS - len(flow.exits)])
            if inner.ends:
                flow.ends = inner.ends
                break
            guard = self._after(inner.exits, guard)
        return flow

    @staticmethod
    def _after(exits: Sequence[Exit], guard: Guard) -> Guard:
        """Add, for each way out that was not taken, that its tests did not hold."""
        for way in exits:
            if len(way.atoms) > _LONGEST_EXIT:
                continue
            new = [atom] if (atom := negation(way.atoms, guard, way.how)) is not None else []
            if new and way.otherwise and known_to_hold(way.before, guard):
                new = list(way.otherwise)
            guard = (*guard, *(one for one in new if len(one.expr.text) <= _LONGEST_ATOM))
        return guard

    def _statement(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        match node.type:
            case "if_statement":
                return self._if(node, guard, bindings, block)
            case "for_statement":
                return self._for(node, guard, bindings, block)
            case "while_statement":
                return self._while(node, guard, bindings, block)
            case "try_statement":
                return self._try(node, guard, bindings)
            case "with_statement":
                return self._with(node, guard, bindings, block)
            case "match_statement":
                return self._match(node, guard, bindings, block)
            case kind if kind in _NESTED:
                return Flow()
        return self._simple(node, guard, bindings, block)

    def _if(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        flow = Flow()
        before: Guard = ()
        endings: list[str | None] = []
        exhaustive = False
        branches = [(node.child_by_field_name("condition"), node.child_by_field_name("consequence"))]
        for clause in node.children_by_field_name("alternative"):
            branches.append(
                (clause.child_by_field_name("condition"), clause.child_by_field_name("consequence"))
                if clause.type == "elif_clause"
                else (None, clause.child_by_field_name("body"))
            )
        for test, body in branches:
            if body is None:
                continue
            own: Guard = ()
            if test is not None:
                self._expressions(test, guard + before, bindings, block)
                decided = constant(test, bindings)
                if decided is False:
                    continue
                own = () if decided else tuple(conjuncts(test, True, bindings))
            else:
                decided = True
            inner = self._block(body, guard + before + own, bindings)
            if inner.ends:
                failed = tuple(conjuncts(test, False, bindings, inner.ends)) if test is not None else ()
                flow.exits.append(Exit(before + own, inner.ends, failed, before))
            else:
                flow.exits.extend(Exit(before + own + way.atoms, way.how) for way in inner.exits)
            endings.append(inner.ends)
            if decided:
                exhaustive = True
                break
            before += tuple(conjuncts(test, False, bindings, "else")) if test is not None else ()
        if exhaustive and all(endings):
            flow.ends = next((one for one in endings if one != "raise"), "raise")
        return flow

    def _for(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        body, right = node.child_by_field_name("body"), node.child_by_field_name("right")
        if body is None or right is None:
            return Flow()
        self._expressions(right, guard, bindings, block)
        passes = unrolled(node, bindings, self._literal)
        if passes is not None:
            exits = [one for each in passes for one in self._loop_body(body, guard, each).exits]
            return Flow(exits=exits)
        left = node.child_by_field_name("left")
        source = expression(right, bindings)
        for name in _bound_names(left):
            self._define(name, right, guard, bindings)
        target = text(left) if left is not None else "_"
        each = _reworded(source, f"for {target} in {source.text}")
        self._loop_body(body, (*guard, Atom(each, True, line(node), "loop")), bindings)
        return Flow()

    def _loop_body(self, body: Node, guard: Guard, bindings: Bindings) -> Flow:
        inner = self._block(body, guard, bindings)
        return Flow(exits=[one for one in inner.exits if one.how != "loop"])

    def _while(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if test is not None and body is not None:
            self._expressions(test, guard, bindings, block)
            self._block(body, guard + tuple(conjuncts(test, True, bindings, "loop")), bindings)
        return Flow()

    def _try(self, node: Node, guard: Guard, bindings: Bindings) -> Flow:
        flow, ends = Flow(), []
        for child in node.named_children:
            if child.type == "block":
                flow = self._block(child, guard, bindings)
                ends.append(flow.ends)
            elif child.type == "except_clause":
                ends.append(self._except(child, node, guard, bindings).ends)
            elif child.type in ("else_clause", "finally_clause"):
                for block in child.named_children:
                    if block.type == "block":
                        self._block(block, guard, bindings)
        body_ends, handlers = (ends[0], ends[1:]) if ends else (None, [])
        flow.ends = body_ends if all(handlers) else None
        return flow

    def _except(self, clause: Node, whole: Node, guard: Guard, bindings: Bindings) -> Flow:
        caught = [child for child in clause.named_children if child.type not in ("block", "comment")]
        body = next((child for child in clause.named_children if child.type == "block"), None)
        if body is None:
            return Flow()
        tried = next((child for child in whole.named_children if child.type == "block"), None)
        first = tried.named_children[0] if tried is not None and tried.named_children else clause
        source = expression(first) if first.type != "block" else expression(clause)
        wording = f"except {text(caught[0])}" if caught else "except"
        return self._block(
            body, (*guard, Atom(_reworded(source, wording), True, line(clause), "except")), bindings
        )

    def _with(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child.type == "with_clause":
                self._expressions(child, guard, bindings, block)
        return self._block(body, guard, bindings) if body is not None else Flow()

    def _match(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        subject, body = node.child_by_field_name("subject"), node.child_by_field_name("body")
        if subject is None or body is None:
            return Flow()
        self._expressions(subject, guard, bindings, block)
        source = expression(subject, bindings)
        flow = Flow()
        for clause in body.named_children:
            inner = clause.child_by_field_name("consequence") if clause.type == "case_clause" else None
            if inner is None:
                continue
            patterns = [text(one) for one in clause.named_children if one.type == "case_pattern"]
            wording = f"{source.text} matches {' | '.join(patterns)}"
            atom = Atom(_reworded(source, wording), True, line(clause), "case")
            result = self._block(inner, (*guard, atom), bindings)
            if result.ends:
                flow.exits.append(Exit((atom,), result.ends))
            flow.exits.extend(Exit((atom, *way.atoms), way.how) for way in result.exits)
        return flow

    # -- simple statements ---------------------------------------------------------------------

    def _simple(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> Flow:
        self._expressions(node, guard, bindings, block)
        if node.type == "expression_statement" and node.named_children:
            self._assignment(node.named_children[0], guard, bindings)
        if node.type == "assert_statement" and (values := _values(node)):
            failed, passed = (conjuncts(values[0], holds, bindings, "assert") for holds in (False, True))
            return Flow(exits=[Exit(tuple(failed), "assert", tuple(passed))])
        if node.type == "return_statement":
            return Flow(ends="return")
        if node.type == "raise_statement":
            return Flow(ends="raise")
        if node.type in ("continue_statement", "break_statement"):
            return Flow(ends="loop")
        if any(shape == "raise" for _, claims in self._shapes.inside(node) for shape, _ in claims):
            return Flow(ends="raise")
        return Flow()

    def _expressions(self, node: Node, guard: Guard, bindings: Bindings, block: int) -> None:
        """Record the effects and calls inside a statement or a compound statement's header."""
        site = Site(guard, block, bindings, self._lookup)
        for inner, claims in self._shapes.inside(node):
            if claims:
                self.facts.effects.extend(read_effects(inner, claims, site))
            if inner.type == "call" and (call := _call(inner, guard, bindings)) is not None:
                self.facts.calls.append(call)
            elif inner.type == "named_expression" and inner.named_child_count == 2:
                name, value = inner.named_children
                self._define(text(name), value, guard, bindings)

    def _assignment(self, node: Node, guard: Guard, bindings: Bindings) -> None:
        if node.type not in ("assignment", "augmented_assignment"):
            return
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        names = _bound_names(left)
        value = unwrap(right)
        parts = _values(value) if value.type in ("expression_list", "tuple") else []
        for index, name in enumerate(names):
            self._define(name, parts[index] if len(parts) == len(names) > 1 else right, guard, bindings)
        if len(names) == 1:
            name = names[0]
            first = name not in self._literals and node.type == "assignment" and value.type in _CONTAINERS
            self._literals[name] = value if first else None

    def _define(self, name: str, value: Node, guard: Guard, bindings: Bindings) -> None:
        self._assigned[name] = value
        own = tuple(atom for atom in guard if atom.how in ("if", "else", "case"))
        self.facts.definitions.setdefault(name, []).append(
            Definition(expression(value, bindings), line(value), own)
        )

    def _lookup(self, name: str) -> Node | None:
        return self._assigned.get(name)

    def _literal(self, name: str) -> Node | None:
        return self._literals[name] if name in self._literals else self._module_literals.get(name)


def _reworded(expr: Expr, wording: str) -> Expr:
    return msgspec.structs.replace(expr, text=wording)


def _values(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _bound_names(target: Node | None) -> list[str]:
    if target is None:
        return []
    if target.type == "identifier":
        return [text(target)]
    if target.type in ("pattern_list", "tuple_pattern", "list_pattern"):
        return [name for child in _values(target) for name in (_bound_names(child) or [""])]
    return []


def _call(node: Node, guard: Guard, bindings: Bindings) -> CallSite | None:
    function = node.child_by_field_name("function")
    callee = chain(function) if function is not None else None
    arguments = node.child_by_field_name("arguments")
    if callee is None or arguments is None:
        return None
    given = tuple(_argument(child, bindings) for child in _values(arguments))
    role, name = _role(node)
    return CallSite(callee, line(node), guard, given, role, name)


def _argument(node: Node, bindings: Bindings) -> Argument:
    name, value = None, node
    if node.type == "keyword_argument" and node.named_child_count >= 2:
        name, value = text(node.named_children[0]), node.named_children[-1]
    elif node.type == "dictionary_splat":
        name, value = "**", node.named_children[-1]
    elif node.type == "list_splat":
        name, value = "*", node.named_children[-1]
    return Argument(
        expression(value, bindings),
        name,
        unwrap(value).type in LITERALS and literal(unwrap(value)) is not ...,
    )


def _role(node: Node) -> tuple[str | None, str | None]:
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        parent = parent.parent
    if parent is None:
        return None, None
    if parent.type == "return_statement":
        return "returned", None
    if parent.type == "dictionary_splat":
        return "unpacked", None
    if parent.type == "keyword_argument":
        return "keyword", text(parent.named_children[0])
    if parent.type == "assignment":
        left = parent.child_by_field_name("left")
        return "assigned", chain(left) or text(left) if left is not None else None
    return None, None
