"""The evidence matrix: what real launches say about a flag, a choice, an algorithm or a rule.

Cells are computed from records, never typed. A cell is one subject on one kind of machine with one
SGLang version; it carries the records behind every state it mentions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from indexer.knowledge.schema import Flag, Rule, Snapshot
from indexer.validate.records import Record

Stale = Mapping[str, Mapping[str, str]]
"""Recorded version: subject: what changed since (see ``staleness``)."""
STATES = ("works", "works-overridden", "failed", "refused", "flaky", "untested")
"""Strongest first; ``flaky`` is a launch whose repetitions disagree."""


class Cell(msgspec.Struct, omit_defaults=True):
    """What is known about ``subject`` on ``machine`` with ``version``.

    ``state`` is the strongest statement (works before overridden before failed before refused);
    ``records`` holds the record ids by state, so that a page can show also what did not work.
    ``line`` is the deciding log line of a failed or refused state. ``stale`` names what changed
    since the recorded version, where the cell is shown for another one.
    """

    subject: str
    machine: str
    version: str
    state: str
    records: dict[str, list[str]] = {}
    """The ids of the records by what each says, in the order of ``STATES``."""
    line: str | None = None
    stale: str | None = None


class Matrix(msgspec.Struct):
    """All cells of some records, and the records they open."""

    cells: list[Cell]
    records: dict[str, Record]

    def machines(self) -> list[str]:
        """Return the machine labels, the columns of the matrix."""
        return sorted({cell.machine for cell in self.cells})

    def of(self, subject: str, version: str | None = None) -> list[Cell]:
        """Return the cells of one subject (of one version)."""
        return [c for c in self.cells if c.subject == subject and version in (None, c.version)]


def machine_label(record: Record) -> str:
    """Return a record's column: ``NVIDIA H200``, or ``2 × NVIDIA H200``."""
    machine = record.machine
    return machine.gpu if machine.gpus == 1 else f"{machine.gpus} × {machine.gpu}"


FINDINGS_ONLY = ("greedy parity", "parity with one GPU", "as predicted", "no process left")
"""Checks whose failure is told with a record but does not make what was launched a failure: rounding
that a mixture of experts amplifies, our own predictions, our own process handling."""


def record_state(record: Record, field: str | None = None) -> str:
    """Return what one record says (about ``field``, when it is one that was asked for)."""
    if record.outcome == "refused":
        return "refused"
    failed = [c for c in record.checks if c.passed is False and not c.name.startswith(FINDINGS_ONLY)]
    if record.outcome == "failed" or failed:
        return "failed"
    overridden = {override.field for override in record.overrides}
    if field in overridden if field else overridden:
        return "works-overridden"
    return "works"


def build_matrix(records: Iterable[Record], snapshot: Snapshot, stale: Stale | None = None) -> Matrix:
    """Return the cells that ``records`` support, and ``untested`` ones for speculative flags without."""
    by_option = {option: flag for flag in snapshot.flags for option in flag.option_strings}
    groups: dict[tuple[str, str, str], list[tuple[str, Record]]] = defaultdict(list)
    kept = {record.id: record for record in records}
    places = _RulePlaces(snapshot.rules)
    for record in kept.values():
        own = record.version == snapshot.source.version
        for subject, field in subjects(record, by_option, _rules_behind(record, places) if own else ()):
            groups[subject, machine_label(record), record.version].append(
                (record_state(record, field), record)
            )
    cells = [_cell(key, found, snapshot, stale or {}) for key, found in sorted(groups.items())]
    tested = {cell.subject for cell in cells}
    for flag in snapshot.flags:
        if "speculative" in flag.name and f"flag:{flag.name}" not in tested:
            cells.append(Cell(f"flag:{flag.name}", "", snapshot.source.version, "untested"))
    return Matrix(cells, kept)


def subjects(
    record: Record, by_option: Mapping[str, Flag], rules: Iterable[Rule]
) -> list[tuple[str, str | None]]:
    """Return what a record is evidence about: ``(subject id, field it is judged by)``.

    ``rules`` are those that its error and its overrides come from.
    """
    found: dict[str, str | None] = {}
    for option in record.flags:
        flag = by_option.get(option)
        if flag is None:
            continue
        found[f"flag:{flag.name}"] = flag.dest
        asked = record.asked.get(flag.dest)
        if flag.choices is not None and isinstance(asked, (str, int)):
            found[f"flag:{flag.name}={asked}"] = flag.dest
    if record.algorithm:
        found[f"algorithm:{record.algorithm}"] = None
    found[f"family:{record.model.family}"] = None
    for rule in rules:
        found[rule.id if rule.id.startswith("rule:") else f"rule:{rule.id}"] = None
    return list(found.items())


def _rules_behind(record: Record, places: _RulePlaces) -> list[Rule]:
    """Return the rules that the record's error, or one of its overrides, comes from."""
    told = [record.where, *(override.by for override in record.overrides)]
    return [rule for place in told if place for rule in places.at(place)]


class _RulePlaces:
    """Finds the rules of a line; the same few places stand in hundreds of records."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._of_file: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            self._of_file[rule.at.path].append(rule)
        self._found: dict[str, list[Rule]] = {}

    def at(self, place: str) -> list[Rule]:
        """Return the rules whose lines hold ``place``: the end of a path, a line, and maybe a function."""
        path, line = place.split(":", 2)[:2] if ":" in place else (place, "")
        key = f"{path}:{line}"
        if key not in self._found:
            self._found[key] = [
                rule
                for full, rules in self._of_file.items()
                if line.isdigit() and full.endswith(path)
                for rule in rules
                if rule.at.line <= int(line) <= (rule.at.end_line or rule.at.line)
            ]
        return self._found[key]


def _cell(
    key: tuple[str, str, str],
    found: list[tuple[str, Record]],
    snapshot: Snapshot,
    stale: Stale,
) -> Cell:
    subject, machine, version = key
    by_state: dict[str, list[str]] = defaultdict(list)
    by_launch: dict[str, set[str]] = defaultdict(set)
    for state, record in found:
        by_state[state].append(record.id)
        by_launch[record.launch].add(state)
    if any(len(states) > 1 for states in by_launch.values()):
        state = "flaky"
    else:
        state = next(state for state in STATES if by_state.get(state))
    line = next(
        (record.error for told, record in found if told == state and told in ("failed", "refused")), None
    )
    changed = stale.get(version, {}).get(subject)
    records = {state: by_state[state] for state in STATES if state in by_state}
    return Cell(subject, machine, version, state, records, line, changed)


def shares(matrix: Matrix, snapshot: Snapshot) -> list[tuple[str, str, int, int]]:
    """Return, for each version and machine, how many speculative flags a launch exercised, of how many
    the shown version documents."""
    wanted = {f"flag:{flag.name}" for flag in snapshot.flags if "speculative" in flag.name}
    columns = sorted({(cell.version, cell.machine) for cell in matrix.cells if cell.machine}, reverse=True)
    return [
        (
            *column,
            len(wanted & {c.subject for c in matrix.cells if (c.version, c.machine) == column}),
            len(wanted),
        )
        for column in columns
    ]


def staleness(recorded: Snapshot, shown: Snapshot) -> dict[str, str]:
    """Return, for each flag, what changed between the recorded and the shown version: its default,
    its choices, or the rules that name it."""
    before, after = _facts(recorded), _facts(shown)
    told = {}
    for subject, facts in after.items():
        if subject not in before:
            continue
        names = [name for name, old, new in zip(_FACTS, before[subject], facts, strict=True) if old != new]
        if names:
            told[subject] = f"{', '.join(names)} changed since {recorded.source.version}"
    return told


_FACTS = ("default", "choices", "rules")


def _facts(snapshot: Snapshot) -> dict[str, tuple[object, object, object]]:
    rules: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for rule in snapshot.rules:
        guard = tuple((condition.text, condition.holds) for condition in rule.guard)
        for name in rule.flags:
            rules[name].append((rule.kind, guard, tuple(rule.targets), tuple(rule.values), rule.message))
    facts: dict[str, tuple[object, object, object]] = {}
    for flag in snapshot.flags:
        named = {rule for key in (flag.name, flag.dest, f"flag:{flag.name}") for rule in rules.get(key, [])}
        choices = flag.choices if isinstance(flag.choices, list) else str(flag.choices)
        facts[f"flag:{flag.name}"] = (repr(flag.default), repr(choices), named)
    return facts
