"""What other releases have under a name that a release has not."""

from __future__ import annotations

import msgspec

from indexer.errors import CannotError
from indexer.knowledge.history import History, load_history, value_at
from indexer.knowledge.history_file import Track, spelled
from indexer.knowledge.nearest import normal


class Elsewhere(msgspec.Struct, frozen=True):
    """A flag, algorithm or variable of other releases: ``told`` says which, and what took its place."""

    kind: str
    name: str
    told: str

    @property
    def command(self) -> str:
        """The command that tells its story."""
        return f"indexer history {self.name.lstrip('-')}"


def elsewhere(kind: str, name: str, version: str) -> Elsewhere | None:
    """Return what other releases have under ``name``, in any spelling, where ``version`` has it not; None
    where none ever had it, or where this installation has no history."""
    wanted = normal(name)
    return next((one for one in names_elsewhere(version, kind) if normal(one.name) == wanted), None)


def names_elsewhere(version: str, kind: str | None = None) -> list[Elsewhere]:
    """Return every name that other releases have and ``version`` has not; none without a history."""
    try:
        history = load_history()
    except CannotError:
        return []
    at = history.index(version) if version in history else None
    return [
        Elsewhere(one_kind, name, _told(history, name, min(indices), max(indices), at))
        for (one_kind, name), indices in _lives(history).items()
        if indices and at not in indices and kind in (None, one_kind)
    ]


def _lives(history: History) -> dict[tuple[str, str], set[int]]:
    """Return in which releases each name exists, by kind and name."""
    found: dict[tuple[str, str], set[int]] = {}
    for track in history.tracks("env_vars"):
        found["env", track.name] = set(history.env_indices(track))
    for kind, attribute in (("flags", "option_strings"), ("algorithms", "aliases")):
        for track in history.tracks(kind):
            for first, last in track.spans:
                starts = [first, *(at for at, _ in track.values.get(attribute, ()) if first < at <= last)]
                for start, end in zip(starts, [*starts[1:], last + 1], strict=True):
                    for name in _names(kind, track, start):
                        found.setdefault((_KINDS[kind], name), set()).update(range(start, end))
    return found


_KINDS = {"flags": "flag", "algorithms": "algorithm"}


def _names(kind: str, track: Track, at: int) -> list[str]:
    if kind == "flags":
        options: list[str] = value_at(track, "option_strings", at, spelled(track.name)["option_strings"])
        return options
    return [track.name, *value_at(track, "aliases", at, [])]


def _told(history: History, name: str, first: int, last: int, at: int | None) -> str:
    versions = history.versions
    taken = history.env_rewritten(name, versions[at]) if at is not None else None
    if taken is not None:
        return f"it is only an old name, {taken.told}"
    if at is not None and at > last:
        new = next((r.text or r.new for r in history.renames if r.old == name and not r.likely), None)
        return f"{versions[last]} was the last release to have it" + (f", use {new}" if new else "")
    if at is not None and at < first:
        return f"it came with {versions[first]}"
    return f"of the releases, {versions[first]} to {versions[last]} have it"
