"""The steps of the resolvers of all covered releases: when each refuses a launch, and what it writes.

Guards and values are expressions in fields of the record; ``...`` is what only a running server knows
(the model, the GPU, an environment variable). Facts only: no message of SGLang's is kept.

In the file a step is written once for all releases that have it, and a release is a list of runs of
steps; see ``RehearsalFile``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path

import msgspec

from indexer.errors import CannotError
from indexer.knowledge.runs import ranged, ranges, repeated, repeats
from indexer.knowledge.schema import Location

FOLLOWED = frozenset({"speculative_algorithm"})
"""Fields whose possible values are followed one by one where it isn't known which is written: nearly every
guard asks for them."""

ARCHITECTURE = "__architecture"
"""The model's architecture, where a guard makes a special case of one or two."""

METHODS = frozenset({"lower", "upper", "strip", "startswith", "endswith"})
FUNCTIONS = {function.__name__: function for function in (len, bool, int, str)}
KINDS = {kind.__name__: kind for kind in (str, int, float, bool, list, tuple, dict)}
"""What the expressions may call: methods of texts, functions, and the kinds that ``isinstance`` asks for."""

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "rehearsal.json"
_SCHEMA = 2
_ITSELF = -1
_QUOTED = re.compile(r"['\"](\w+)['\"]")


class Step(msgspec.Struct, frozen=True, eq=False):
    """One step: it is taken when all of ``guard`` holds. It raises ``exception``, or else writes fields:
    ``writes`` are ``(field, value)``. ``told`` marks a write that takes back what the user asked for, so
    that SGLang warns or runs with another number. ``path`` and ``line`` say where, of what is told.
    ``raising`` are ``(index in guard, path, line)`` of the conditions for which Python itself may raise when
    it asks (``None > 1``). Of a step read from a file the lines come from ``Rehearsals.place`` and
    ``place_of``, by its ``key``."""

    guard: tuple[str, ...]
    writes: tuple[tuple[str, str], ...] = ()
    exception: str = ""
    told: bool = False
    path: str = ""
    line: int = 0
    raising: tuple[tuple[int, str, int], ...] = ()
    key: int = -1


class _Step(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A step as the file has it: texts by their index, without lines. ``raising`` are ``(index in guard,
    path)``."""

    guard: tuple[int, ...]
    exception: int = -1
    path: int = -1
    writes: tuple[tuple[int, int], ...] = ()
    told: bool = False
    raising: tuple[tuple[int, int], ...] = ()


_Placed = tuple[int, int]
"""What has a line: a step's index, and of that step a raising condition's index, or ``_ITSELF``."""


def _placed(indexes: Iterable[int], steps: Sequence[_Step], before: Mapping[_Placed, int]) -> list[_Placed]:
    """Return what has a line in a release with these steps, in the order of its lines ``before``, file by
    file, with what is new behind: neighbours move by the same number of lines."""
    found = []
    for index in indexes:
        step = steps[index]
        places = [(_ITSELF, step.path)] if step.path >= 0 else []
        for at, path in [*places, *step.raising]:
            line = before.get((index, at))
            found.append((path, line is None, line or 0, (index, at)))
    return [part for *_, part in sorted(found, key=itemgetter(0, 1, 2))]


class _Release(msgspec.Struct, array_like=True):
    """The steps of a release as runs ``first, count, first, count, ...``, and the lines of what is
    ``_placed`` as runs ``difference from the release before, count, ...`` (from nothing: from the line
    before)."""

    steps: list[int]
    lines: list[int]


class RehearsalFile(msgspec.Struct):
    """All releases, oldest first, in the order of the mapping; ``algorithms`` are the names that each takes
    for ``--speculative-algorithm``."""

    schema: int
    texts: list[str]
    steps: list[_Step]
    releases: dict[str, _Release]
    algorithms: dict[str, list[str]] = {}


class Rehearsals:
    """The steps of each covered release."""

    def __init__(self, file: RehearsalFile) -> None:
        self._file = file
        self._steps: dict[str, list[Step]] = {}

    def steps(self, version: str) -> list[Step]:
        """Return a release's steps in order; none where the release isn't covered."""
        if version not in self._file.releases:
            return []
        if version not in self._steps:
            self._steps[version] = list(self._decoded(version))
        return self._steps[version]

    def algorithms(self, version: str) -> list[str]:
        """Return the algorithms' names with their other spellings; none: not known."""
        return self._file.algorithms.get(version, [])

    def _decoded(self, version: str) -> Iterable[Step]:
        texts = self._file.texts
        for index in ranged(self._file.releases[version].steps):
            step = self._file.steps[index]
            yield Step(
                guard=tuple(texts[one] for one in step.guard),
                writes=tuple((texts[name], texts[value]) for name, value in step.writes),
                exception=texts[step.exception] if step.exception >= 0 else "",
                told=step.told,
                path=texts[step.path] if step.path >= 0 else "",
                raising=tuple((at, texts[path], 0) for at, path in step.raising),
                key=index,
            )

    def special_architectures(self, version: str) -> frozenset[str]:
        """Return the architectures that the steps treat in ways of their own, among the other texts of the
        guards that name them."""
        texts = {text for step in self.steps(version) for text in step.guard if ARCHITECTURE in text}
        return frozenset(name for text in texts for name in _QUOTED.findall(text))

    def place(self, version: str, step: Step) -> Location:
        """Return where a step that is told stands in a release."""
        return Location(step.path, self._lines[version][step.key, _ITSELF])

    def place_of(self, version: str, step: Step, text: str) -> Location | None:
        """Return where a release asks for a condition of a step, None for one that can't raise."""
        return next(
            (
                Location(path, self._lines[version][step.key, index])
                for index, path, _ in step.raising
                if step.guard[index] == text
            ),
            None,
        )

    @cached_property
    def _lines(self) -> dict[str, dict[_Placed, int]]:
        """Return version → what has a line → line: each release is told by its difference from the one
        before."""
        found: dict[str, dict[_Placed, int]] = {}
        before: dict[_Placed, int] = {}
        for version, release in self._file.releases.items():
            placed = _placed(ranged(release.steps), self._file.steps, before)
            now: dict[_Placed, int] = {}
            last = 0
            for part, difference in zip(placed, repeated(release.lines), strict=True):
                last = now[part] = before.get(part, last) + difference
            found[version] = before = now
        return found


def fold(
    releases: Mapping[str, Sequence[Step]], algorithms: Mapping[str, Sequence[str]] | None = None
) -> RehearsalFile:
    """Return the file of the steps of ``releases``, which come oldest first."""
    texts: dict[str, int] = {}
    known: dict[_Step, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    folded: dict[str, _Release] = {}
    before: dict[_Placed, int] = {}
    for version, steps in releases.items():
        lines: dict[_Placed, int] = {}
        indexes: dict[int, None] = {}
        for step in steps:
            packed = _Step(
                guard=tuple(map(place, step.guard)),
                exception=place(step.exception) if step.exception else -1,
                path=place(step.path) if step.path else -1,
                writes=tuple((place(name), place(value)) for name, value in step.writes),
                told=step.told,
                raising=tuple((at, place(path)) for at, path, _ in step.raising),
            )
            index = known.setdefault(packed, len(known))
            if index in indexes:
                continue  # the same again: the first place is enough
            indexes[index] = None
            lines[index, _ITSELF] = step.line
            lines.update({(index, at): line for at, _, line in step.raising})
        placed = _placed(indexes, list(known), before)
        # What is new is told by the line of what stands before it.
        behind = [0, *(lines[part] for part in placed)]
        differences = [
            lines[part] - before.get(part, last) for part, last in zip(placed, behind, strict=False)
        ]
        folded[version] = _Release(ranges(indexes), repeats(differences))
        before = {part: lines[part] for part in placed}
    return RehearsalFile(
        _SCHEMA,
        list(texts),
        list(known),
        folded,
        {v: sorted(names) for v, names in (algorithms or {}).items()},
    )


def encode(file: RehearsalFile) -> bytes:
    """Return the file's bytes: JSON, one step or release a line."""
    encoder = msgspec.json.Encoder(order="deterministic")
    steps = b",\n".join(map(encoder.encode, file.steps))
    texts = b",\n".join(map(encoder.encode, file.texts))

    def rows(mapping: Mapping[str, object]) -> bytes:
        lines = (encoder.encode(key) + b":" + encoder.encode(value) for key, value in mapping.items())
        return b",\n".join(lines)

    parts = (
        b'"schema":%d' % file.schema,
        b'"texts":[\n%s\n]' % texts,
        b'"steps":[\n%s\n]' % steps,
        b'"releases":{\n%s\n}' % rows(file.releases),
        b'"algorithms":{\n%s\n}' % rows(file.algorithms),
    )
    return b"{%s}\n" % b",\n".join(parts)


def load_rehearsals(path: Path = SHIPPED) -> Rehearsals:
    """Return the steps shipped with the package, or those in ``path``.

    Raises:
        CannotError: the file is missing or damaged.
    """
    try:
        return Rehearsals(msgspec.json.decode(path.read_bytes(), type=RehearsalFile))
    except OSError as error:
        raise CannotError(f"{path.name} can't be read ({error.strerror})") from error
    except msgspec.MsgspecError as error:
        raise CannotError(f"{path.name} is damaged ({error})") from error
