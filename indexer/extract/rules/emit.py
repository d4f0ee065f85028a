"""From reached effects to ``Rule`` records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexer.extract.rules.facts import Atom, Effect, Expr
from indexer.extract.rules.flows import Flows
from indexer.extract.rules.guards import Guards
from indexer.extract.rules.helpers import Helpers
from indexer.extract.rules.naming import environment_reads, group_of, option_fields
from indexer.extract.rules.program import Program
from indexer.extract.rules.reach import Reach, Reached
from indexer.extract.rules.stages import CHECKS, PARSING, RESOLVER, stage_of
from indexer.knowledge.schema import Location, Rule

_CHECKS = {"raise": "error", "assert": "assert"}
_MOST_OF_A_HELPER = 6
_MOST_CALLERS = 8
_MOST_MEANINGS = 3
_MOST_NAMES = 8
_CHECKPOINT = re.compile(r"\b(hf_config|hf_text_config|draft_model_config)\b")


@dataclass
class Draft:
    """A rule without its id yet, with what is needed to find its neighbours."""

    rule: Rule
    block: tuple[str, str, int]
    is_log: bool = False


class Emitter:
    """Turns the effects of reached functions into rules."""

    def __init__(self, program: Program, reach: Reach) -> None:
        self._program = program
        self._reach = reach
        self._fields = reach.fields
        self._guards = Guards(reach.reached)
        self._helpers = Helpers(program, reach.fields)
        self._flows = Flows(reach)

    def drafts(self) -> Iterator[Draft]:
        """Yield every rule of every reached function."""
        for nodes in self._reach.reached.values():
            for node in nodes:
                if stage_of(node.key[0]) is not None:
                    node.reader.attributes = self._flows.attributes(node.key)
                for index, effect in enumerate(node.function.effects):
                    for one in self._flows.variants(node, effect) if index in node.order else ():
                        draft = self._draft(node, index, one)
                        if draft is not None:
                            yield draft

    def _draft(self, node: Reached, index: int, effect: Effect) -> Draft | None:
        kind, targets, shape = self._classify(node, effect)
        if kind is None:
            return None
        second = stage_of(node.key[0]) is not None
        own = [atom for atom in effect.guard if atom.how in ("if", "case", "loop")]
        last = [atom for atom in own if atom.line == own[-1].line]
        at_issue = {*targets, *self._read_by(node, [*(atom.expr for atom in last), *effect.values], second)}
        said = option_fields(effect.message or "", self._fields.names)
        bound = [one.strip("\"'") for one in effect.bindings.values()]
        said += [one for one in bound if one in self._fields.names]
        about = list(dict.fromkeys([*self._about(node, own, effect, second), *said]))
        conditions = self._guards.conditions(node, effect, at_issue)
        exprs = [*(atom.expr for atom in effect.guard if atom.how not in ("raise", "assert")), *effect.values]
        helpers = self._helpers.names(exprs)
        flags = [*about, *self._read_by(node, [*exprs, effect.reads], second)]
        flags.extend(sorted(self._helpers.fields(node.key, node.function, helpers)))
        flags.extend(self._of_callers(node))
        flags.extend(one.partition(".")[0] for one in targets)
        flags = [one for one in dict.fromkeys(flags) if one in self._fields.names]
        stage = stage_of(node.key[0]) or node.stage
        if kind == "notice" and node.stage not in (PARSING, RESOLVER, CHECKS) and not flags:
            return None
        path, name = node.key
        rule = Rule(
            id="",
            kind=kind,
            at=Location(path, effect.line, effect.end_line, name or None),
            function=name,
            guard=conditions,
            targets=list(targets) if kind == "override" else about,
            values=[value.text for value in effect.values],
            message=effect.message,
            exception=effect.exception,
            flags=flags,
            helpers=helpers,
            shape=shape,
            order=node.order.get(index),
            stage=stage,
            bindings=effect.bindings,
            where=self._where(node, exprs),
            overridable=any(self._flows.overridable(edge) for edge in node.edges),
        )
        rule.group = group_of(rule)
        return Draft(rule, (path, name, effect.block), effect.kind == "log")

    def _where(self, node: Reached, exprs: list[Expr]) -> dict[str, str]:
        """Return what the local names of a guard stand for, where they were set in few places, and what its
        helpers return."""
        found: dict[str, str] = {}
        asked = list(exprs)
        names = [name for expr in exprs for name in expr.names]
        for name in names:
            given = node.function.definitions.get(name, [])
            texts = list(dict.fromkeys(one.expr.text for one in given if one.expr.text != name))
            if name in found or not 0 < len(texts) <= _MOST_MEANINGS or node.reader.is_record(name):
                continue
            found[name] = " | ".join(texts)
            asked.extend(one.expr for one in given)
            names.extend(inner for one in given if len(found) < _MOST_NAMES for inner in one.expr.names)
        bodies = [*self._helpers.bodies(node.key, node.function, asked)]
        for edge in node.edges if len(node.edges) <= _MOST_CALLERS else ():
            tests = [atom.expr for atom in edge.guard if atom.how not in ("raise", "assert")]
            for caller in self._reach.reached.get(edge.caller, ()) if edge.caller is not None else ():
                bodies += self._helpers.bodies(caller.key, caller.function, tests)
        return found | _of_one_meaning(bodies)

    def _classify(self, node: Reached, effect: Effect) -> tuple[str | None, tuple[str, ...], str]:
        if effect.kind in _CHECKS:
            return _CHECKS[effect.kind], (), effect.shape
        if effect.kind == "log":
            return effect.container, (), effect.shape
        if not node.whole:
            return None, (), ""
        if effect.kind == "environment":
            return "override", tuple(f"env:{name}" for name in effect.targets), effect.shape
        if effect.kind == "store":
            targets = tuple(filter(None, (self._store_target(node, one) for one in effect.targets)))
            return ("override" if targets else None), targets, effect.shape
        targets = self._flows.decided(node, effect)
        return ("override" if targets else None), targets, effect.shape

    def _store_target(self, node: Reached, target: str) -> str | None:
        bare = re.sub(r"\[\]", "", target)
        name = node.reader.target(bare)
        if name is not None:
            return name
        found = _CHECKPOINT.search(target)
        if found and stage_of(node.key[0]) == "model config":
            return target[found.start() :]
        return None

    def _about(self, node: Reached, own: list[Atom], effect: Effect, second: bool) -> list[str]:
        """Return the fields and variables that a check is about: its tests, assertion and message."""
        exprs = [atom.expr for atom in own]
        if effect.kind == "assert":
            exprs.extend(effect.values)
        exprs.append(effect.reads or Expr(""))
        found: dict[str, None] = {}
        for expr in exprs:
            direct = self._read_by(node, [expr], second)
            chased = node.reader.chased(expr)
            if not direct:
                helpers = self._helpers.names(chased)
                direct = sorted(self._helpers.fields(node.key, node.function, helpers, depth=1))
                direct = direct if len(direct) <= _MOST_OF_A_HELPER else []
            found.update(dict.fromkeys(direct))
            found.update(dict.fromkeys(name for one in chased for name in environment_reads(one)))
        return list(found)

    def _read_by(self, node: Reached, exprs: Iterable[Expr | None], second: bool) -> list[str]:
        found: dict[str, None] = {}
        for expr in exprs:
            found.update(dict.fromkeys(node.reader.fields_in(expr, second_order=second)))
        return list(found)

    def _of_callers(self, node: Reached) -> list[str]:
        """Return the fields that the callers' conditions read, where callers are few."""
        found: set[str] = set()
        if len(node.edges) > _MOST_CALLERS:
            return []
        for edge in node.edges:
            exprs = [atom.expr for atom in edge.guard if atom.how not in ("raise", "assert")]
            for caller in self._reach.reached.get(edge.caller, ()) if edge.caller is not None else ():
                found.update(self._read_by(caller, exprs, False))
                helpers = self._helpers.names(exprs)
                found |= self._helpers.fields(caller.key, caller.function, helpers, depth=1)
        return sorted(found)


def _of_one_meaning(bodies: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what calls stand for, but for those of a name that means different functions here and there."""
    meanings: dict[str, set[tuple[str, str]]] = {}
    for call, returned in bodies:
        meanings.setdefault(call.partition("(")[0], set()).add((call, returned))
    return dict(one for meant in meanings.values() for one in meant if len(meant) == 1)
