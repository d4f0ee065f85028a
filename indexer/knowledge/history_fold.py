"""Folding the facts of many versions into a history file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from indexer.knowledge.facts import AlgorithmFact, EnvFact, Facts, FieldFact, FlagFact
from indexer.knowledge.history_file import HISTORY_SCHEMA, HistoryFile, Release, Rename, Track, spelled
from indexer.knowledge.renames import FoundRename, find_renames
from indexer.knowledge.schema import Location

PLACES = {"declared_at", "read_at"}
"""Attributes that hold a location."""

Fact = FlagFact | AlgorithmFact | EnvFact | FieldFact


def fold(releases: list[Release], versions: Iterable[Facts], generator: str = "") -> HistoryFile:
    """Return the history of ``releases``, whose facts come in the same order (oldest first)."""
    folder = _Folder()
    renames: dict[tuple[str, str, str], Rename] = {}
    before: Facts | None = None
    for at, facts in enumerate(versions):
        folder.add(at, facts)
        for found in find_renames(before, facts) if before else ():
            # The first evidence is the best: what is deprecated today is only missing tomorrow.
            renames.setdefault((found.kind, found.old, found.new), _rename(found, at))
        before = facts
    return HistoryFile(
        schema=HISTORY_SCHEMA,
        releases=releases,
        paths=list(folder.paths),
        flags=folder.sorted_tracks("flags"),
        algorithms=folder.sorted_tracks("algorithms"),
        env_vars=folder.sorted_tracks("env_vars"),
        fields=folder.sorted_tracks("fields"),
        renames=sorted(renames.values(), key=lambda one: (one.at, one.kind, one.old, one.new)),
        generator=generator,
    )


def _rename(found: FoundRename, at: int) -> Rename:
    old_at = (at - 1, found.old_at.path, found.old_at.line) if found.old_at else None
    new_at = (at, found.new_at.path, found.new_at.line) if found.new_at else None
    return Rename(found.kind, found.old, found.new, at, found.how, old_at, new_at, found.text)


class _Folder:
    def __init__(self) -> None:
        self.paths: dict[str, int] = {}
        self._tracks: dict[str, list[_Growing]] = {}

    def add(self, at: int, facts: Facts) -> None:
        for kind, match in _MATCH.items():
            tracks = self._tracks.setdefault(kind, [])
            known = match(tracks, getattr(facts, kind))
            for fact, track in known:
                if track is None:
                    track = _Growing(fact)
                    tracks.append(track)
                track.extend(at, fact, self._path)

    def _path(self, path: str) -> int:
        return self.paths.setdefault(path, len(self.paths))

    def sorted_tracks(self, kind: str) -> list[Track]:
        tracks = [growing.track for growing in self._tracks.get(kind, ())]
        for track in tracks:
            if kind == "flags":
                _drop_spelled(track)
            elif "declared_at" not in track.places:
                track.places = {name: [_begun(run) for run in runs] for name, runs in track.places.items()}
        return sorted(tracks, key=lambda track: (track.name, track.spans))


class _Growing:
    """A track that grows by one release at a time."""

    def __init__(self, fact: Fact) -> None:
        self.track = Track(fact.name, [])
        self.last = fact
        self._defaults = _default_values(type(fact))
        self._values: dict[str, Any] = dict(self._defaults)
        self._lines: dict[str, tuple[int, int]] = {}

    def extend(self, at: int, fact: Fact, path_index: Callable[[str], int]) -> None:
        spans = self.track.spans
        if spans and spans[-1][1] == at - 1:
            spans[-1] = (spans[-1][0], at)
        else:
            spans.append((at, at))
        # The newest name is the track's: people look for today's spelling.
        self.track.name = fact.name
        for attribute in self._defaults:
            value = getattr(fact, attribute)
            if value != self._values[attribute]:
                self._values[attribute] = value
                self.track.values.setdefault(attribute, []).append((at, msgspec.to_builtins(value)))
        for attribute in PLACES & set(fact.__struct_fields__):
            location = getattr(fact, attribute)
            if location is not None:
                self._extend_place(attribute, at, location, path_index(location.path))
        self.last = fact

    def _extend_place(self, attribute: str, at: int, location: Location, path: int) -> None:
        runs = self.track.places.setdefault(attribute, [])
        line = location.line
        if runs and runs[-1][1] == path and runs[-1][0] + len(runs[-1][2]) == at:
            runs[-1][2].append(line - self._lines[attribute][1])
        else:
            runs.append((at, path, [line]))
        self._lines[attribute] = (at, line)


def _begun(run: tuple[int, int, list[int]]) -> tuple[int, int, list[int]]:
    """Keep only the first place of a run: foreign variables are read in files that move all the time."""
    return run[0], run[1], run[2][:1]


def _drop_spelled(track: Track) -> None:
    for attribute, derived in spelled(track.name).items():
        changes = track.values.get(attribute, [])
        if len(changes) == 1 and changes[0][1] == derived:
            del track.values[attribute]


def _default_values(kind: type) -> dict[str, Any]:
    defaults = {}
    for field in msgspec.structs.fields(kind):
        if field.name == "name" or field.name in PLACES:
            continue
        factory = field.default_factory
        defaults[field.name] = field.default if factory is msgspec.NODEFAULT else factory()
    return defaults


def _by_name(tracks: list[_Growing], facts: list[Any]) -> list[tuple[Any, _Growing | None]]:
    known = {track.track.name: track for track in tracks}
    return [(fact, known.get(fact.name)) for fact in facts]


def _by_option(tracks: list[_Growing], flags: list[FlagFact]) -> list[tuple[FlagFact, _Growing | None]]:
    """Match flags to tracks by the option strings they share.

    The order of a flag's spellings may change, and an alias may become a flag of its own: the flag
    with the track's own name goes first, then the one that shares most.
    """
    owners: dict[str, _Growing] = {}
    for track in tracks:  # later tracks own a spelling that has moved between flags
        for option in _options(track):
            held = owners.get(option)
            if held is None or track.track.spans[-1][1] >= held.track.spans[-1][1]:
                owners[option] = track
    claims = []
    for flag in flags:
        shared: dict[int, int] = {}
        by_id = {}
        for option in flag.option_strings:
            if (owner := owners.get(option)) is not None:
                shared[id(owner)] = shared.get(id(owner), 0) + 1
                by_id[id(owner)] = owner
        claims += [
            (flag.name != by_id[key].track.name, -count, flag.name, flag, by_id[key])
            for key, count in shared.items()
        ]
    taken: set[int] = set()
    matched: dict[str, _Growing] = {}
    for _, _, name, _, track in sorted(claims, key=lambda claim: claim[:3]):
        if name not in matched and id(track) not in taken:
            matched[name] = track
            taken.add(id(track))
    return [(flag, matched.get(flag.name)) for flag in flags]


def _options(track: _Growing) -> list[str]:
    return track.last.option_strings if isinstance(track.last, FlagFact) else []


_MATCH: dict[str, Callable[[list[_Growing], list[Any]], list[tuple[Any, _Growing | None]]]] = {
    "flags": _by_option,
    "algorithms": _by_name,
    "env_vars": _by_name,
    "fields": _by_name,
}
