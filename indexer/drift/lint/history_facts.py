"""``VersionFacts`` over the shipped history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from indexer.drift.lint.facts import OptionFact, Span
from indexer.knowledge.env_prefix import Rewritten
from indexer.knowledge.facts import EnvFact, FlagFact
from indexer.knowledge.history import History, exists, option_strings
from indexer.knowledge.history_file import Track
from indexer.knowledge.schema import Location, ServeRule

if TYPE_CHECKING:
    from indexer.drift.change import Change
    from indexer.drift.variables import Heir

_DATA = Path(__file__).resolve().parents[2] / "data"
_CONFIG_READERS, _OTHER_PARSERS = _DATA / "config_reader.json", _DATA / "other_parsers.json"
_JSON_VALUES = _DATA / "json_values.json"


class HistoryFacts:
    """The facts that the lints need, read from a ``History``."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.versions: Sequence[str] = history.versions

    @cached_property
    def option_spans(self) -> dict[str, list[Span]]:
        """Every option string ever declared, with where it lives."""
        spans: dict[str, list[Span]] = {}
        for track in self.history.tracks("flags"):
            changes = [since for since, _ in track.values.get("option_strings", ())]
            for first, last in track.spans:
                begins = [first, *(since for since in changes if first < since <= last)]
                for begin, following in zip(begins, [*begins[1:], last + 1], strict=True):
                    for option in option_strings(track, begin):
                        spans.setdefault(option, []).append((begin, following - 1))
        return spans

    @cached_property
    def renames(self) -> dict[str, list[str]]:
        """Option strings that replaced an option string, best evidence first, guesses left out."""
        found: dict[str, list[str]] = {}
        for rename in self.history.renames:
            if rename.kind == "flag" and not rename.likely:
                named = found.setdefault(rename.old, [])
                named += [new for new in (rename.text, rename.new) if new and new not in named]
        return found

    def env_spans(self, name: str) -> list[Span]:
        """Return where an environment variable is a setting."""
        track = self.history.env_tracks.get(name)
        return _runs(self.history.env_indices(track)) if track is not None else []

    def env_at(self, name: str, version: str) -> EnvFact | None:
        """Return what a version knows of an environment variable, None where it has nothing of that name."""
        return self.history.env_at(name, version)

    def env_rewritten(self, name: str, version: str) -> Rewritten | None:
        """Return the setting that ``version`` sets from an old name which is no setting itself."""
        return self.history.env_rewritten(name, version)

    def env_heir(self, name: str, last: str, version: str) -> Heir | None:
        """Return what ``version`` has in place of a variable whose last version as a setting was ``last``."""
        return self._heirs(last, version).get(name)

    @cache  # noqa: B019 - one object lives as long as the command
    def env_changes(self, old: str, new: str) -> dict[str, list[Change]]:
        """Return what ``indexer drift`` tells of each variable between two versions."""
        from indexer.drift.compare import compare

        renames = self.history.renames_between(old, new)
        changes: dict[str, list[Change]] = {}
        for change in compare(self.history.at(old), self.history.at(new), renames, ["env"]):
            changes.setdefault(change.name, []).append(change)
        return changes

    @cache  # noqa: B019 - one object lives as long as the command
    def _heirs(self, last: str, version: str) -> dict[str, Heir]:
        from indexer.drift.compare import replacement_table
        from indexer.drift.variables import heirs

        renames = self.history.renames_between(self.versions[0], version)
        old, new = self.history.at(last), self.history.at(version)
        return heirs(replacement_table(renames, old, new), renames, old, new)

    def flags_at(self, version: str) -> Sequence[OptionFact]:
        """Return the options of the server's parser; where each stands is found when it is asked for."""
        at = self.history.index(version)
        tracks = (track for track in self.history.tracks("flags") if exists(track, at))
        return [_Option(self.history, track, at) for track in tracks]

    @cached_property
    def diffusion_options(self) -> frozenset[str]:
        """Option strings of the diffusion parser behind ``sglang serve``."""
        return frozenset(self._other_parsers["diffusion"])

    @property
    def diffusion_values(self) -> Mapping[str, str]:
        """Options of that parser that take one value of any content, with its ``type=``."""
        values: dict[str, str] = self._other_parsers["one_value"]
        return values

    @cached_property
    def serve_rules(self) -> Mapping[str, ServeRule]:
        """What ``sglang serve`` does, in the versions that have the command, oldest first."""
        return msgspec.convert(self._other_parsers["serve"], dict[str, ServeRule])

    @cached_property
    def _other_parsers(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(_OTHER_PARSERS.read_text(encoding="utf-8"))
        return facts

    def config_rule(self, version: str) -> str:
        """Return how the version's reader of ``--config`` files treats keys."""
        return self._config_readers.get(version, {}).get("rule") or "unknown"

    def config_asked_at(self, version: str) -> str | None:
        """Return where the version reads ``--config`` files only if that very word is given."""
        return self._config_readers.get(version, {}).get("asked")

    @cached_property
    def _config_readers(self) -> dict[str, dict[str, str | None]]:
        readers: dict[str, dict[str, str | None]] = json.loads(_CONFIG_READERS.read_text(encoding="utf-8"))
        return readers

    def json_types(self, version: str) -> frozenset[str]:
        """Return the names of the ``type=`` functions that parse JSON first of all."""
        return frozenset(self._json_values[version]["types"]) if version in self._json_values else frozenset()

    def json_options(self, version: str) -> Mapping[str, str]:
        """Return the dests of the text options that every server parses as JSON, with ``path:line``."""
        return self._json_values[version]["options"] if version in self._json_values else {}

    @cached_property
    def _json_values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(_JSON_VALUES.read_text(encoding="utf-8"))
        return values

    def fields_at(self, version: str) -> frozenset[str]:
        """Return the names that ``ServerArgs(...)`` takes."""
        return frozenset(field.name for field in self.history.fields_at(version))

    def field_defaults_at(self, version: str) -> dict[str, Any]:
        """Return all fields, with the defaults of those that no option sets (``...``: not known)."""
        return {
            field.name: ... if field.has_cli or isinstance(field.default, dict) else field.default
            for field in self.history.fields_at(version)
        }


class _Option:
    """A flag's fact whose place is only looked up on demand."""

    def __init__(self, history: History, track: Track, at: int) -> None:
        fact = history.fact(track, FlagFact, at, places=False)
        self.option_strings = fact.option_strings
        self.dest = fact.dest
        self.field = fact.field
        self.action = fact.action
        self.nargs = fact.nargs
        self.default = fact.default
        self.type = fact.type
        self.choices = fact.choices
        self.required = fact.required
        self.deprecated = fact.deprecated
        self._where = (history, track, at)

    @property
    def declared_at(self) -> Location | None:
        history, track, at = self._where
        return history.place(track, "declared_at", at) if "declared_at" in track.places else None


def _runs(indices: list[int]) -> list[Span]:
    """Return unbroken ranges of ascending indices."""
    runs: list[Span] = []
    for at in indices:
        if runs and runs[-1][1] == at - 1:
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
    return runs
