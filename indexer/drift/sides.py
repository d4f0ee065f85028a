"""The two sides of a comparison: a release, a revision of a checkout, or a snapshot file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from indexer.errors import CannotError, UsageError
from indexer.knowledge.facts import Facts, facts_of
from indexer.knowledge.history import History
from indexer.knowledge.renames import FoundRename, find_renames
from indexer.knowledge.schema import Rule
from indexer.knowledge.store import load_snapshot


class Side(NamedTuple):
    """One side: its facts, how it was named, and where the facts came from."""

    facts: Facts
    name: str
    origin: str
    rules: list[Rule] | None = None

    def known_rules(self) -> list[Rule]:
        """Return the rules of the side, of a release those that were read before.

        Raises:
            CannotError: they have to be read first; the message names the command.
        """
        if self.rules is not None:
            return self.rules
        from indexer.knowledge.release_rules import kept_rules

        version = self.facts.version
        kept = kept_rules(version) if self.origin in ("history", "release") else None
        if kept is None:
            raise CannotError(
                f"the rules of {self.name} are not at hand",
                f"read them, which takes up to 20 seconds: indexer history rules {version}"
                if self.in_history
                else "make a snapshot of it: indexer snapshot",
            )
        return kept.rules

    @property
    def in_history(self) -> bool:
        """Whether the facts are those of a covered release."""
        return self.origin == "history"


def open_side(spec: str, history: History | None, checkout: Path | None = None) -> Side:
    """Return the side that ``spec`` names.

    A snapshot file is taken by its path, a revision from ``checkout`` where one is given, a release
    from the history or, where that has not got it, from the package index.

    Raises:
        UsageError: nothing of that name.
        CannotError: it can't be read or fetched.
    """
    path = Path(spec)
    if path.suffix == ".json" or path.is_file():
        if not path.is_file():
            raise UsageError(
                f"there is no snapshot file {spec}", "make one: indexer snapshot VERSION -o FILE"
            )
        snapshot = load_snapshot(path)
        return Side(facts_of(snapshot), f"{snapshot.source.version} ({spec})", "snapshot", snapshot.rules)
    version = spec.removeprefix("v")
    if checkout is not None:
        from indexer.snapshots import followed_of
        from indexer.source import open_source

        try:
            tree = open_source(checkout=checkout, rev=spec)
        except UsageError:
            if history is None or version not in history:
                raise
        else:
            dirty = "" if not tree.dirty else ", uncommitted changes not read"
            name = f"{tree.version} ({spec} of {checkout}{dirty})"
            return Side(facts_of(followed_of(tree)), name, "checkout")
    if history is not None and version in history:
        return Side(history.at(version), version, "history")
    from indexer.snapshots import get_snapshot

    snapshot = get_snapshot(version, code_paths=False)
    return Side(facts_of(snapshot), snapshot.source.version, "release", snapshot.rules)


def renames_of(old: Side, new: Side, history: History | None) -> list[FoundRename]:
    """Return the renames between two sides: the history's where it knows both, else what the two show."""
    if history is None or not (old.in_history and new.in_history):
        return find_renames(old.facts, new.facts)
    return history.renames_between(old.facts.version, new.facts.version)


def is_older(version: str, other: str) -> bool:
    """Tell whether ``version`` comes before ``other``; False where either is no version."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version) < Version(other)
    except InvalidVersion:
        return False
