"""What every page of one version's tree is made from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from indexer.knowledge.addresses import every_fact, page_of
from indexer.knowledge.history import History
from indexer.knowledge.links import Links
from indexer.knowledge.messages import Stay, load_messages
from indexer.knowledge.pairings import Pairings, has_pairings, pairings_of
from indexer.knowledge.schema import Rule, Snapshot
from indexer.knowledge.stories import Story, algorithm_story, env_story, flag_story
from indexer.publish.citations import count_citations
from indexer.publish.excerpts import SourceText
from indexer.validate.matrix import Cell, Matrix

_STORIES = {"flag": flag_story, "algorithm": algorithm_story, "env": env_story}


class Page(msgspec.Struct):
    """A page and its JSON twin.

    ``stem`` is its place below the version's folder, without suffix; ``data`` is the JSON twin;
    ``facts`` is what its template shows; ``trail`` are the (title, stem) pairs above it.
    """

    stem: str
    template: str
    title: str
    data: Any
    facts: dict[str, Any] = {}
    trail: list[tuple[str, str]] = []
    description: str = ""


class SectionLink(msgspec.Struct):
    """A part of the site that the header names."""

    title: str
    stem: str


class VersionSite:
    """One version's facts, its source, and what the other versions of the site have.

    ``others`` maps each other version of the site to the page stems it has; ``history`` and ``evidence``
    are None where the installation has none.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        source: SourceText,
        others: Mapping[str, frozenset[str]],
        versions: list[str],
        default: str,
        history: History | None = None,
        evidence: Matrix | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.source = source
        self.others = others
        self.versions = versions
        self.default = default
        self.history = history
        self.evidence = evidence
        self.links = Links(snapshot)

    @property
    def version(self) -> str:
        """The SGLang version of this tree."""
        return self.snapshot.source.version

    @property
    def citations(self) -> int:
        """How many citations are re-opened before the version is published."""
        return count_citations(self.snapshot)

    @cached_property
    def architectures(self) -> frozenset[str]:
        """The architectures that have a page."""
        return frozenset(model.architecture for model in self.snapshot.models)

    @cached_property
    def pairings(self) -> Pairings:
        """Which model runs with which algorithm."""
        return pairings_of(self.snapshot)

    def story(self, kind: str, name: str) -> Story | None:
        """Return the history of a flag (by option string), algorithm or variable, where one is told."""
        if self.history is None:
            return None
        return _STORIES[kind](self.history, name)

    def stays(self, rule: Rule) -> list[Stay]:
        """Return in which releases a rule's message stands where; empty where that isn't known."""
        messages = load_messages()
        return messages.stays(rule) if messages is not None else []

    def cells(self, subject: str) -> list[Cell]:
        """Return what launches say about a subject (an id)."""
        return self.evidence.of(subject) if self.evidence and self.evidence.records else []

    @cached_property
    def sections(self) -> list[SectionLink]:
        """The parts that have something to show, in the header's order."""
        snapshot = self.snapshot
        parts = [
            ("Flags", "flags/index", snapshot.flags),
            ("Algorithms", "algorithms/index", snapshot.algorithms),
            ("Models", "models/index", snapshot.models),
            ("Matrix", "matrix/index", self.pairings.rows and self.pairings.algorithms),
            ("Rules", "rules/index", snapshot.rules),
            ("Code paths", "paths/index", snapshot.code_paths),
            ("Environment", "env/index", snapshot.env_vars),
            ("Changes", "drift/index", self.history is not None and self.version in self.history),
            ("Evidence", "evidence/index", self.evidence is not None and self.evidence.records),
        ]
        return [SectionLink(title, stem) for title, stem, there in parts if there]


def page_stems(snapshot: Snapshot) -> frozenset[str]:
    """Return the stems of the pages that facts of a snapshot are on."""
    stems = {page_of(kind, fact) for kind, fact in every_fact(snapshot)}
    return frozenset(stems | ({"matrix/index"} if has_pairings(snapshot) else set()))
