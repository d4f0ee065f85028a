"""What every page of one version's tree is made from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from indexer.knowledge.addresses import every_fact, page_of
from indexer.knowledge.links import Links
from indexer.knowledge.schema import Snapshot
from indexer.publish.citations import count_citations
from indexer.publish.excerpts import SourceText


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

    ``others`` maps each other version of the site to the page stems it has.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        source: SourceText,
        others: Mapping[str, frozenset[str]],
        versions: list[str],
        default: str,
    ) -> None:
        self.snapshot = snapshot
        self.source = source
        self.others = others
        self.versions = versions
        self.default = default
        self.links = Links(snapshot)
        self.citations = count_citations(snapshot)

    @property
    def version(self) -> str:
        """The SGLang version of this tree."""
        return self.snapshot.source.version

    @cached_property
    def sections(self) -> list[SectionLink]:
        """The parts that have something to show, in the header's order."""
        snapshot = self.snapshot
        parts = [
            ("Flags", "flags/index", snapshot.flags),
            ("Algorithms", "algorithms/index", snapshot.algorithms),
            ("Models", "models/index", snapshot.models),
            ("Rules", "rules/index", snapshot.rules),
            ("Code paths", "paths/index", snapshot.code_paths),
            ("Environment", "env/index", snapshot.env_vars),
            ("Coverage", "coverage", True),
        ]
        return [SectionLink(title, stem) for title, stem, there in parts if there]


def page_stems(snapshot: Snapshot) -> frozenset[str]:
    """Return the stems of the pages that facts of a snapshot are on."""
    return frozenset(page_of(kind, fact) for kind, fact in every_fact(snapshot))
