"""Folding the facts of many versions into a history file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from indexer.knowledge.facts import AlgorithmFact, EnvFact, Facts, FieldFact, FlagFact
from indexer.knowledge.history_file import (
    HISTORY_SCHEMA,
    LIST,
    LOCATED,
    HistoryFile,
    Release,
    Rename,
    Track,
    spelled,
)
from indexer.knowledge.history_lines import Stretch, moves_of
from indexer.knowledge.renames import FoundRename, find_renames
from indexer.knowledge.schema import Location

PLACES = {"declared_at", "read_at"}
"""Attributes that hold a location."""

Fact = FlagFact | AlgorithmFact | EnvFact | FieldFact


def fold(releases: list[Release], versions: Iterable[Facts], generator: str = "") -> HistoryFile:
    """Return the history of ``releases``, whose facts come in the same order (oldest first)."""
    folder = _Folder()
    found_renames: dict[tuple[str, str, str], tuple[int, FoundRename]] = {}
    before: Facts | None = None
    for at, facts in enumerate(versions):
        folder.add(at, facts)
        for found in find_renames(before, facts) if before else ():
            # The first evidence is the best: what is deprecated today is only missing tomorrow.
            found_renames.setdefault((found.kind, found.old, found.new), (at, found))
        before = facts
    ordered = sorted(found_renames.values(), key=lambda one: (one[0], one[1].kind, one[1].old, one[1].new))
    renames = [folder.rename(found, at) for at, found in ordered]
    kinds = {kind: folder.finished(kind) for kind in _MATCH}
    tracks = {kind: [growing.track for growing in found] for kind, found in kinds.items()}
    texts, lists = _share_lists(kinds["flags"])
    file = HistoryFile(
        schema=HISTORY_SCHEMA,
        releases=releases,
        paths=list(folder.paths),
        flags=tracks["flags"],
        algorithms=tracks["algorithms"],
        env_vars=tracks["env_vars"],
        fields=tracks["fields"],
        texts=texts,
        lists=lists,
        renames=renames,
        generator=generator,
    )
    lines = [
        lines
        for kind in LOCATED
        for growing in kinds[kind]
        for attribute in sorted(growing.lines)
        for lines in growing.lines[attribute]
    ]
    file.moves = moves_of(file.stretches(), lines)
    return file


def _share_lists(flags: list[_Growing]) -> tuple[list[str], list[list[int]]]:
    """Put the index of a list in place of each flag's choices; return the texts and the lists."""
    texts: dict[str, int] = {}
    lists: dict[tuple[int, ...], int] = {}

    def kept(value: Any) -> Any:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            return value
        key = tuple(texts.setdefault(one, len(texts)) for one in value)
        return {LIST: lists.setdefault(key, len(lists))}

    for track in (growing.track for growing in flags):
        if "choices" in track.constant:
            track.constant["choices"] = kept(track.constant["choices"])
        elif "choices" in track.values:
            track.values["choices"] = [(at, kept(value)) for at, value in track.values["choices"]]
    return list(texts), [list(key) for key in lists]


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

    def rename(self, found: FoundRename, at: int) -> Rename:
        """Return what is kept of a rename."""
        old_at, new_at = (
            (self._path(one.path), one.line) if one else None for one in (found.old_at, found.new_at)
        )
        return Rename(found.kind, found.old, found.new, at, found.how, old_at, new_at, found.text)

    def _path(self, path: str) -> int:
        return self.paths.setdefault(path, len(self.paths))

    def finished(self, kind: str) -> list[_Growing]:
        """Return the tracks of a kind in the order of the file."""
        for growing in self._tracks.get(kind, ()):
            growing.keep_constants()
            if kind == "flags":
                _drop_spelled(growing.track)
            elif "declared_at" not in growing.track.places:
                growing.keep_beginnings()
        return sorted(self._tracks.get(kind, ()), key=lambda one: (one.track.name, one.track.spans))


class _Growing:
    """A track that grows by one release at a time."""

    def __init__(self, fact: Fact) -> None:
        self.track = Track(fact.name, [])
        self.last = fact
        self._defaults = _default_values(type(fact))
        self._values: dict[str, Any] = dict(self._defaults)
        self.lines: dict[str, list[list[int]]] = {}
        """The lines of each stretch of ``track.places``, release by release."""

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
        for attribute in sorted(PLACES & set(fact.__struct_fields__)):
            location = getattr(fact, attribute)
            if location is not None:
                self._extend_place(attribute, at, location, path_index(location.path))
        self.last = fact

    def _extend_place(self, attribute: str, at: int, location: Location, path: int) -> None:
        places = self.track.places.setdefault(attribute, [])
        lines = self.lines.setdefault(attribute, [])
        if places and places[-1].path == path and places[-1].until == at - 1:
            places[-1] = Stretch(places[-1].since, at, path, location.line)
            lines[-1].append(location.line)
        else:
            places.append(Stretch(at, at, path, location.line))
            lines.append([location.line])

    def keep_constants(self) -> None:
        """Set apart the attributes that have one value from the first version on."""
        track, first = self.track, self.track.spans[0][0]
        for attribute, changes in list(track.values.items()):
            if len(changes) == 1 and changes[0][0] == first:
                track.constant[attribute] = changes[0][1]
                del track.values[attribute]

    def keep_beginnings(self) -> None:
        """Keep only where each stretch begins: foreign variables are read in files that move all the time."""
        for attribute, places in self.track.places.items():
            lines = self.lines[attribute] = [one[:1] for one in self.lines[attribute]]
            places[:] = [Stretch(p.since, p.since, p.path, n[0]) for p, n in zip(places, lines, strict=True)]


def _drop_spelled(track: Track) -> None:
    for attribute, derived in spelled(track.name).items():
        if track.constant.get(attribute) == derived:
            del track.constant[attribute]


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
