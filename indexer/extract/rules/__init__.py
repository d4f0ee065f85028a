"""Rules: what the resolver and the start-up checks do to a launch.

``facts`` are read file by file (``files``, ``flow``, ``effects``) and cached by content; ``reach``
walks the resolver from its entry over them, ``guards`` adds callers' conditions, ``emit`` writes rules.
"""

from __future__ import annotations

from indexer.extract.rules.companions import attach_companions
from indexer.extract.rules.emit import Emitter
from indexer.extract.rules.fields import read_fields
from indexer.extract.rules.files import EXTRACTOR as RULE_FACTS
from indexer.extract.rules.naming import assign_ids
from indexer.extract.rules.program import Program
from indexer.extract.rules.reach import Reach
from indexer.extract.rules.stages import RECORD_FILE, RESOLVER, RESOLVER_FILES, stage_of
from indexer.knowledge.schema import Location, Rule, Unrecognised
from indexer.source.tree import SourceTree
from indexer.syntax.graph import ModuleGraph

__all__ = ["RULE_FACTS", "extract_rules", "rule_files", "unread_resolver"]


def rule_files(tree: SourceTree) -> list[str]:
    """Return the files that may hold rules: the resolver's, and those of the start-up stages."""
    return [path for path in tree.walk() if path.startswith(RESOLVER_FILES) or stage_of(path)]


def unread_resolver(rules: list[Rule]) -> list[Unrecognised]:
    """Return one entry where no rule of the resolver was found: its entry has a shape of its own."""
    if any(rule.stage == RESOLVER for rule in rules):
        return []
    return [Unrecognised("rules", Location(RECORD_FILE, 1), "resolver", "its entry was not recognised")]


def extract_rules(source: ModuleGraph | SourceTree, jobs: int | None = None) -> list[Rule]:
    """Return the rules of a tree in the order in which they run, start-up checks last.

    ``jobs`` is the number of processes that read files the cache does not hold.
    """
    graph = source if isinstance(source, ModuleGraph) else ModuleGraph(source)
    program = Program(graph)
    program.load(rule_files(graph.tree), jobs)
    reach = Reach(program, read_fields(graph))
    reach.run()
    drafts = sorted(
        Emitter(program, reach).drafts(),
        key=lambda one: (one.rule.order or 0, one.rule.at.path, one.rule.at.line),
    )
    rules = [draft.rule for draft in drafts]
    assign_ids(rules)
    attach_companions(drafts)
    return rules
