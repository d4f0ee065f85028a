"""Reading the history: what each covered version had, since when and until when."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from indexer.errors import UsageError
from indexer.knowledge.env_prefix import Rewritten, rewritten
from indexer.knowledge.facts import AlgorithmFact, EnvFact, Facts, FieldFact, FlagFact
from indexer.knowledge.history_file import (
    LOCATED,
    HistoryFile,
    Release,
    Rename,
    Track,
    read_history_file,
    spelled,
)
from indexer.knowledge.history_lines import Lines
from indexer.knowledge.renames import FoundRename
from indexer.knowledge.schema import Location

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "history.json"

_NONE = object()
"""Stands for a value that a track doesn't have yet."""

Fact = TypeVar("Fact", FlagFact, AlgorithmFact, EnvFact, FieldFact)


class Interval(NamedTuple):
    """An unbroken range of releases in which an option string belonged to the flag ``name``.

    ``current`` tells that the range reaches the newest covered release.
    """

    first: str
    last: str
    name: str
    current: bool


class History:
    """The covered releases, oldest first, and the facts of each."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file
        self._index = {release.version: at for at, release in enumerate(file.releases)}

    @cached_property
    def versions(self) -> list[str]:
        """All covered versions, oldest first."""
        return [release.version for release in self._file.releases]

    @property
    def releases(self) -> list[Release]:
        """The covered releases with their wheels' names and hashes."""
        return self._file.releases

    @property
    def renames(self) -> list[Rename]:
        """What gave way to what, with evidence."""
        return self._file.renames

    def renames_between(self, old: str, new: str) -> list[FoundRename]:
        """Return the renames on the way from ``old`` to ``new``; backwards each is turned round."""
        start, end = self.index(old), self.index(new)
        low, high = sorted((start, end))
        on_the_way = [rename for rename in self.renames if low < rename.at <= high]
        found = [self._found(rename) for rename in on_the_way]
        if start <= end:
            return found
        turned = [msgspec.structs.replace(f, old=f.new, new=f.old, text=None) for f in reversed(found)]
        return [msgspec.structs.replace(f, old_at=f.new_at, new_at=f.old_at) for f in turned]

    def rename_places(self, rename: Rename) -> list[Location | None]:
        """Return where the old and the new stand, each in its release."""
        paths, places = self._file.paths, (rename.old_at, rename.new_at)
        return [Location(paths[place[0]], place[1]) if place else None for place in places]

    def _found(self, rename: Rename) -> FoundRename:
        old_at, new_at = self.rename_places(rename)
        since = self.versions[rename.at]
        return FoundRename(
            rename.kind, rename.old, rename.new, rename.how, old_at, new_at, rename.text, since
        )

    def __contains__(self, version: str) -> bool:
        return version in self._index

    def index(self, version: str) -> int:
        """Return the place of a version in ``versions``.

        Raises:
            UsageError: the history does not cover it; the message names its neighbours.
        """
        try:
            return self._index[version.removeprefix("v")]
        except KeyError:
            raise UsageError(
                f"the history has no release {version} (it covers {self._near(version)})",
                "check the version, or add it: indexer history build --to VERSION",
            ) from None

    def _near(self, version: str) -> str:
        from packaging.version import InvalidVersion, Version

        ends = f"{self.versions[0]} to {self.versions[-1]}"
        try:
            wanted = Version(version)
        except InvalidVersion:
            return ends
        before = [known for known in self.versions if Version(known) < wanted]
        after = [known for known in self.versions if Version(known) > wanted]
        if before and after:
            return f"{ends}, there {before[-1]} and {after[0]}"
        return ends

    def at(self, version: str) -> Facts:
        """Return all facts of a version."""
        return Facts(
            version=self.versions[self.index(version)],
            flags=self.flags_at(version),
            algorithms=self._facts(self._file.algorithms, AlgorithmFact, version),
            env_vars=self._facts(self._file.env_vars, EnvFact, version),
            fields=self._facts(self._file.fields, FieldFact, version),
        )

    def flags_at(self, version: str) -> list[FlagFact]:
        """Return the flags of a version, by name."""
        return self._facts(self._file.flags, FlagFact, version)

    def env_vars_at(self, version: str) -> list[EnvFact]:
        """Return the environment variables of a version, by name."""
        return self._facts(self._file.env_vars, EnvFact, version)

    @cached_property
    def env_tracks(self) -> dict[str, Track]:
        """The tracks of the environment variables by name."""
        return {track.name: track for track in self.tracks("env_vars")}

    def env_at(self, name: str, version: str) -> EnvFact | None:
        """Return what a version knows of an environment variable, None where it has nothing of that name."""
        track, at = self.env_tracks.get(name), self.index(version)
        return self.fact(track, EnvFact, at) if track is not None and exists(track, at) else None

    def env_rewritten(self, name: str, version: str) -> Rewritten | None:
        """Return the setting that ``version`` sets from an old name which is no setting itself."""
        return rewritten(name, version, lambda known: self.env_at(known, version))

    def fields_at(self, version: str) -> list[FieldFact]:
        """Return the ServerArgs fields of a version, by name."""
        return self._facts(self._file.fields, FieldFact, version)

    def _facts(self, tracks: list[Track], kind: type[Fact], version: str) -> list[Fact]:
        at = self.index(version)
        return [self.fact(track, kind, at) for track in tracks if exists(track, at)]

    def fact(self, track: Track, kind: type[Fact], at: int, *, places: bool = True) -> Fact:
        """Return the fact of a track in the release of index ``at``, in which it must exist; without
        ``places`` its locations are left out, which costs a part of the time in an old release."""
        found: dict[str, Any] = {"name": track.name}
        if kind is FlagFact:
            found |= spelled(track.name)
        found |= track.constant
        for attribute in track.values:
            value = value_at(track, attribute, at, _NONE)
            if value is not _NONE:
                found[attribute] = value
        if "choices" in found:
            found["choices"] = self._file.listed(found["choices"])
        for attribute in track.places if places else ():
            found[attribute] = self.place(track, attribute, at)
        if spellings := found.get("option_strings"):
            found["name"] = spellings[0].lstrip("-")  # a track bears the newest name, this is its own
        return msgspec.convert(found, kind)

    def env_indices(self, track: Track) -> list[int]:
        """Return the indices of the releases in which an environment variable is a setting
        (``EnvFact.is_setting``)."""
        indices = _indices(track)
        if {"notice", "deprecated"}.isdisjoint([*track.constant, *track.values]):
            return indices
        return [at for at in indices if self.fact(track, EnvFact, at).is_setting]

    def place(self, track: Track, attribute: str, at: int) -> Location | None:
        """Return where a track's fact stands in the release of index ``at``."""
        for index, stretch in enumerate(track.places[attribute]):
            if stretch.since <= at <= stretch.until:
                member = self._members[id(track), attribute] + index
                return Location(self._file.paths[stretch.path], self._lines.line(member, at))
        return None

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._file.stretches(), self._file.moves)

    @cached_property
    def _members(self) -> dict[tuple[int, str], int]:
        """Where the stretches of a track's attribute begin among all."""
        found: dict[tuple[int, str], int] = {}
        count = 0
        for kind in LOCATED:
            for track in self.tracks(kind):
                for attribute in sorted(track.places):
                    found[id(track), attribute] = count
                    count += len(track.places[attribute])
        return found

    def tracks(self, kind: str) -> list[Track]:
        """Return the tracks of a kind: ``flags``, ``algorithms``, ``env_vars`` or ``fields``."""
        return getattr(self._file, kind)

    @cached_property
    def _owners(self) -> dict[str, dict[int, Track]]:
        owners: dict[str, dict[int, Track]] = {}
        for track in self._file.flags:
            for at in _indices(track):
                for option in option_strings(track, at):
                    owners.setdefault(option, {})[at] = track
        return owners

    def owners(self, option: str) -> dict[int, Track]:
        """Return the flag's track that an option string belonged to, by release index."""
        return self._owners.get(option, {})

    def flag_intervals(self, option: str) -> list[Interval]:
        """Return when an option string (``--x``; without dashes a flag's name) was accepted.

        An empty list: it never was. Abbreviations are not considered.
        """
        wanted = option if option.startswith("-") else f"--{option.replace('_', '-')}"
        owners: dict[int, str] = {}
        for track in self._file.flags:
            for at in _indices(track):
                if wanted in option_strings(track, at):
                    owners[at] = track.name
        return self._intervals(owners)

    def _intervals(self, owners: dict[int, str]) -> list[Interval]:
        found: list[Interval] = []
        newest = len(self.versions) - 1
        start: int | None = None
        for at in sorted(owners):
            if start is None:
                start = at
            if owners.get(at + 1) != owners[at]:
                found.append(
                    Interval(self.versions[start], self.versions[at], owners[at], current=at == newest)
                )
                start = None
        return found


def exists(track: Track, at: int) -> bool:
    """Tell whether a track's fact exists in the release of index ``at``."""
    return any(first <= at <= last for first, last in track.spans)


def value_at(track: Track, attribute: str, at: int, default: Any = None) -> Any:
    """Return an attribute's value in the release of index ``at``."""
    found = track.constant.get(attribute, default)
    for since, value in track.values.get(attribute, ()):
        if since > at:
            break
        found = value
    return found


def option_strings(track: Track, at: int) -> list[str]:
    """Return the option strings of a flag's track in the release of index ``at``."""
    found: list[str] = value_at(track, "option_strings", at, spelled(track.name)["option_strings"])
    return found


def _indices(track: Track) -> list[int]:
    return [at for first, last in track.spans for at in range(first, last + 1)]


@lru_cache(maxsize=2)
def load_history(path: Path | None = None) -> History:
    """Return the history shipped with the package, or that in ``path``.

    Raises:
        CannotError: the file is missing, damaged, or of another schema version.
    """
    return History(read_history_file(path or SHIPPED))
