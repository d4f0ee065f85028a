"""``refused`` and ``overridden`` from shipped facts: what a rehearsal of the launch proves.

The resolver's steps of every covered release ship with the package (``indexer.knowledge.rehearsal``). They
are rehearsed on the options of a launch that the file tells whole; model, GPU and environment are unknown, so
that what comes out holds for any of them. It takes milliseconds and no release has to be at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from indexer.drift.launch.model import FileLaunches, Launch
from indexer.drift.lint.argv import Use
from indexer.drift.lint.evaluate import names_in
from indexer.drift.lint.facts import Timeline, show
from indexer.drift.lint.launch_fields import default_fields, field_of, given_fields
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.rehearse import Path, Usual, asked, rehearse
from indexer.drift.lint.whole import complete_uses
from indexer.drift.report.record import HINT, MEANING
from indexer.knowledge.rehearsal import ARCHITECTURE, FOLLOWED, Rehearsals, Step

_NUMBERS = "speculative_"
"""The numbers of these fields are chosen with care: another one is another launch. Elsewhere a number is
often scaled (a chunk size by the number of data-parallel ranks)."""
_STEM = 5
"""A model whose name has so many letters of an architecture's may be of it."""
_MOST_SPECIAL = 3
"""So many special architectures are gone through; of more nothing is said."""
_REQUIREMENTS = 2
"""So many conditions of a refusal are told: more than that nobody reads."""


_KEPT = 512
"""So many rehearsals are remembered: files with thousands of launches vary few options, or only ports."""


class _Release:
    """What every rehearsal on a release begins with. ``asked`` are the fields that its steps name: no other
    decides anything, and none is written."""

    def __init__(self, version: str, timeline: Timeline, rehearsals: Rehearsals) -> None:
        self.steps = rehearsals.steps(version)
        self.table = timeline.table(version)
        self.base = default_fields(self.table, timeline.facts.field_defaults_at(version))
        self.base[ARCHITECTURE] = ""
        self.usual = Usual(self.base, self.steps)
        self.models = [name for name in self.base if name.endswith("model_path")]
        self.special = sorted(rehearsals.special_architectures(version))
        self.asked = frozenset(name for step in self.steps for name in _named(step))


def _named(step: Step) -> Iterator[str]:
    yield from asked(step)
    for name, value in step.writes:
        yield name
        yield from names_in(value)


class CertainConflicts:
    """Findings that the shipped steps prove."""

    def __init__(self, timeline: Timeline, rehearsals: Rehearsals) -> None:
        self.timeline = timeline
        self.rehearsals = rehearsals
        self._releases: dict[str, _Release] = {}
        self._known: dict[tuple[object, ...], list[Path]] = {}

    def __call__(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return the findings for one launch on one version."""
        release = self._releases.get(version)
        if release is None:
            release = self._releases[version] = _Release(version, self.timeline, self.rehearsals)
        uses = complete_uses(launch, release.table, values_told=False) if release.steps else None
        if not uses:
            return []
        given = given_fields(uses, release.base)
        by_field = {field_of(use.flag, release.base.keys()): use for use in uses}
        paths: list[Path] = []
        architectures = self._architectures(given, release)
        for given[ARCHITECTURE] in architectures:
            paths += self._paths(version, release, given, by_field.keys())
        if all(path.refused for path in paths):
            if len(architectures) > 1 and len({path.refused for path in paths}) > 1:
                return []  # for another reason, if it is the special case
            return [self._refusal(paths[0], by_field, version)]
        started = [path for path in paths if path.refused is None]
        written = [name for name in by_field if name in release.asked]
        told = (self._override(name, by_field, given[name], started, version) for name in written)
        return [raw for raw in told if raw is not None]

    def _paths(
        self, version: str, release: _Release, given: Mapping[str, object], told: Set[str]
    ) -> list[Path]:
        """Return the ways of a launch, of which the fields that no step asks for are another launch's."""
        differs = frozenset((name, type(given[name]), repr(given[name])) for name in told & release.asked)
        key = (version, given[ARCHITECTURE], differs)
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = rehearse(release.steps, given, told, release.usual)
        return self._known[key]

    @staticmethod
    def _architectures(given: Mapping[str, object], release: _Release) -> list[object]:
        """Return what the model's architecture may be, by its name: what stands for all that are no special
        cases, and the special ones that it may be; ``...`` where these are too many."""
        model = _letters(" ".join(str(given[name]) for name in release.models))
        likely = [name for name in release.special if name.lower()[:_STEM] in model]
        return ["", *likely] if len(likely) <= _MOST_SPECIAL else [...]

    def _refusal(self, path: Path, by_field: dict[str, Use], version: str) -> Raw:
        step = path.refused
        assert step is not None
        blamed = self._blamed(step, by_field)
        use, *others = [by_field[name] for name in blamed]
        named = [_told(one) for one in others if not one.flag.dest.endswith("model_path")]
        beside = f" with {' and '.join(named)}" if named else ""
        return _raw(
            "refused",
            use,
            f"SGLang {version} refuses {_told(use)}{beside}: "
            f"{path.exception}{_required(step, blamed, path.crash)}{_become(path, by_field)}",
            self._told_at(path, version),
        )

    def _told_at(self, path: Path, version: str) -> str | None:
        """Return where a launch is refused: what Python can't evaluate, or the step that says no."""
        step = path.refused
        assert step is not None
        if path.crash:
            return show(self.rehearsals.place_of(version, step, path.crash))
        return show(self.rehearsals.place(version, step)) if step.path else None

    @staticmethod
    def _blamed(step: Step, by_field: dict[str, Use]) -> list[str]:
        """Return the given fields that the refusal asks for, the one of its last condition first."""
        last = next(names for text in reversed(step.guard) if (names := names_in(text)) & by_field.keys())
        first = [name for name in by_field if name in last]
        return first + [name for name in by_field if name in asked(step) and name not in first]

    def _override(
        self, name: str, by_field: Mapping[str, Use], given: object, started: Sequence[Path], version: str
    ) -> Raw | None:
        use = by_field[name]
        value = started[0].state.get(name, ...)
        same = all(_same(path.state.get(name, ...), value) for path in started)
        if value is ... or given is ... or not same or _same(value, given) or name in FOLLOWED:
            return None
        writers = [step for path in started if (step := path.by.get(name)) is not None and step.told]
        if use.flag.deprecated or len(writers) < len(started):
            return None
        # Of several writers the one that asks for least beside what the file gives is the reason.
        step = min(writers, key=lambda one: len(asked(one) - by_field.keys()))
        switch = isinstance(value, bool)
        becomes = ("switched on" if value else "switched off") if switch else f"replaced by {value}"
        others = [text for text in step.guard if names_in(text) - {name, "model_path"}]
        why = f" where {' and '.join(others[-_REQUIREMENTS:])}" if others else ""
        return _raw(
            "overridden",
            use,
            f"{_told(use)} is not what SGLang {version} runs with: it is {becomes}{why}",
            show(self.rehearsals.place(version, step)),
            None if switch else f"{use.option} {value}",
            level=MEANING if switch or name.startswith(_NUMBERS) else HINT,
        )


def _letters(text: str) -> str:
    return "".join(one for one in text.lower() if one.isalnum())


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _told(use: Use) -> str:
    return " ".join([use.spelled, *(word.text if word.known else "…" for word in use.values)])


def _required(step: Step, blamed: Sequence[str], crash: str) -> str:
    """Return what the step asks for at last, as far as it is about what was given."""
    if crash:
        return f" when it asks for {crash}"
    about = [text for text in step.guard if names_in(text) & set(blamed)]
    if not about:
        return ""
    last = about[-1]
    return f", it requires {last[5:-1]}" if last.startswith("not (") else f" where {last}"


def _become(path: Path, by_field: Mapping[str, Use]) -> str:
    """Return what fields that the file doesn't give, and the refusal asks for, were set to before."""
    assert path.refused is not None
    values = {name: path.state.get(name, ...) for name in sorted(asked(path.refused)) if name in path.by}
    known = [
        f"{name} {value!r}" for name, value in values.items() if name not in by_field and value is not ...
    ]
    return f", with {' and '.join(known)} by then" if known else ""


def _raw(
    code: str,
    use: Use,
    message: str,
    at: str | None,
    replacement: str | None = None,
    level: str | None = None,
) -> Raw:
    word = use.word
    return Raw(
        code,
        level or LINTS[code].level,
        message,
        word.start,
        max(word.start + 1, min(word.end, word.start + len(use.spelled))),
        flag=use.spelled,
        replacement=replacement,
        at=at,
    )
