"""The facts that the lints need of each version, behind one small interface."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from indexer.knowledge.schema import Flag, Location, ServeRule

if TYPE_CHECKING:
    from indexer.drift.change import Change
    from indexer.knowledge.env_prefix import Rewritten
    from indexer.knowledge.facts import EnvFact

Span = tuple[int, int]
"""First and last index into ``VersionFacts.versions``, both included."""


class DeprecationLike(Protocol):
    """What a version says of a deprecated option or variable."""

    @property
    def replacement(self) -> str | None:
        """What to use instead."""

    @property
    def raises(self) -> bool:
        """True when using it stops the launch."""


class OptionFact(Protocol):
    """One argparse action; names and values are argparse's own (``schema.Flag``, ``FlagFact``)."""

    @property
    def option_strings(self) -> list[str]: ...
    @property
    def dest(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def nargs(self) -> Any: ...
    @property
    def default(self) -> Any: ...
    @property
    def type(self) -> Any: ...
    @property
    def choices(self) -> Any: ...
    @property
    def required(self) -> bool: ...
    @property
    def declared_at(self) -> Location | None: ...
    @property
    def deprecated(self) -> DeprecationLike | None: ...


class HeirLike(Protocol):
    """What to use instead of a variable, where that is declared, and the end of a message about it."""

    @property
    def text(self) -> str: ...
    @property
    def at(self) -> Location | None: ...
    @property
    def told(self) -> str: ...


class VersionFacts(Protocol):
    """Facts of all covered versions, oldest first."""

    @property
    def versions(self) -> Sequence[str]:
        """Every covered version."""

    @property
    def option_spans(self) -> Mapping[str, Sequence[Span]]:
        """Every option string ever declared, with where it lives."""

    @property
    def renames(self) -> Mapping[str, Sequence[str]]:
        """Option strings that replaced an option string, best evidence first."""

    def env_spans(self, name: str) -> Sequence[Span]:
        """Return where an environment variable is a setting. Empty: it never was."""

    def env_at(self, name: str, version: str) -> EnvFact | None:
        """Return what a version knows of an environment variable, None where it has nothing of that name."""

    def env_rewritten(self, name: str, version: str) -> Rewritten | None:
        """Return the setting that ``version`` sets from an old name which is no setting itself."""

    def env_heir(self, name: str, last: str, version: str) -> HeirLike | None:
        """Return what ``version`` has in place of a variable whose last version as a setting was ``last``."""

    def env_changes(self, old: str, new: str) -> Mapping[str, Sequence[Change]]:
        """Return what ``indexer drift`` tells of each variable between two versions."""

    def flags_at(self, version: str) -> Sequence[OptionFact]:
        """Return the options of the server's parser."""

    @property
    def diffusion_options(self) -> frozenset[str]:
        """Option strings of the diffusion parser behind ``sglang serve``, of any version."""

    @property
    def diffusion_values(self) -> Mapping[str, str]:
        """Those that take one value of any content in every version that has them, with its ``type=``."""

    @property
    def serve_rules(self) -> Mapping[str, ServeRule]:
        """What ``sglang serve`` does, in the versions that have the command, oldest first."""

    def config_rule(self, version: str) -> str:
        """Return how the version's reader of ``--config`` files treats keys (see
        ``indexer.extract.config_reader``), ``unknown`` where that isn't known."""

    def config_asked_at(self, version: str) -> str | None:
        """Return where (``path:line``) the version reads ``--config`` files only if that very word is given,
        None where it isn't so."""

    def json_types(self, version: str) -> frozenset[str]:
        """Return the names of the ``type=`` functions that parse JSON first of all."""

    def json_options(self, version: str) -> Mapping[str, str]:
        """Return the dests of the text options that every server parses as JSON, with ``path:line``."""

    def fields_at(self, version: str) -> frozenset[str]:
        """Return the names that ``ServerArgs(...)`` takes; empty where that isn't known."""

    def field_defaults_at(self, version: str) -> dict[str, Any]:
        """Return all fields, with the defaults of those that no option sets (``...``: not known)."""


_NO_VALUE_ACTIONS = frozenset(
    {"_StoreTrueAction", "_StoreFalseAction", "_StoreConstAction", "_HelpAction", "BooleanOptionalAction"}
)
HELP = Flag(name="help", option_strings=["-h", "--help"], dest="help", action="_HelpAction", nargs=0)
"""argparse adds it to every parser; it takes part in prefix matching like any other."""


def value_count(flag: OptionFact) -> Any:
    """Return argparse's ``nargs`` of the flag: None for one value, 0, an int, ``?``, ``*``, ``+``;
    or ``unknown``."""
    if flag.action in _NO_VALUE_ACTIONS:
        return 0
    if flag.nargs is None or isinstance(flag.nargs, int) or flag.nargs in ("?", "*", "+"):
        return flag.nargs
    return "unknown"


class VersionTable:
    """The options of one version, found exactly or by prefix as argparse does it."""

    def __init__(
        self, version: str, flags: Sequence[OptionFact], json_types: frozenset[str] = frozenset()
    ) -> None:
        self.version = version
        self.json_types = json_types
        self.by_option: dict[str, OptionFact] = {"-h": HELP, "--help": HELP}
        self.by_dest: dict[str, list[OptionFact]] = {}
        for flag in flags:
            self.by_dest.setdefault(flag.dest, []).append(flag)
            for option in _option_strings(flag):
                self.by_option[option] = flag
        self.required = [flag for flag in flags if flag.required]
        self._sorted = sorted(self.by_option)

    def matches(self, prefix: str) -> list[str]:
        """Return every option string that begins with ``prefix``."""
        begin = bisect_left(self._sorted, prefix)
        found = []
        for option in self._sorted[begin:]:
            if not option.startswith(prefix):
                break
            found.append(option)
        return found

    def meant(self, spelled: str) -> list[str]:
        """Return the option strings that a spelling stands for: itself, else every one that begins so."""
        return [spelled] if spelled in self.by_option else self.matches(spelled)


def _option_strings(flag: OptionFact) -> list[str]:
    options = list(flag.option_strings)
    if flag.action == "BooleanOptionalAction" and not any(o.startswith("--no-") for o in options):
        options += ["--no-" + o[2:] for o in flag.option_strings if o.startswith("--")]
    return options


class Timeline:
    """Where each option string lives across the versions."""

    def __init__(self, facts: VersionFacts) -> None:
        self.facts = facts
        self.versions = list(facts.versions)
        self.position = {version: i for i, version in enumerate(self.versions)}
        self._tables: dict[str, VersionTable] = {}
        self.verdicts: dict[tuple[str, str], Any] = {}

    def table(self, version: str) -> VersionTable:
        """Return the options of one covered version."""
        if version not in self._tables:
            flags, json_types = self.facts.flags_at(version), self.facts.json_types(version)
            self._tables[version] = VersionTable(version, flags, json_types)
        return self._tables[version]

    def last_before(self, option: str, version: str) -> str | None:
        """Return the newest older version that declares ``option``."""
        at = self.position[version]
        ends = [min(last, at - 1) for first, last in self.facts.option_spans.get(option, ()) if first < at]
        return self.versions[max(ends)] if ends else None

    def first_after(self, option: str, version: str) -> str | None:
        """Return the oldest newer version that declares ``option``."""
        at = self.position[version]
        begins = [max(first, at + 1) for first, last in self.facts.option_spans.get(option, ()) if last > at]
        return self.versions[min(begins)] if begins else None

    @cached_property
    def foreign(self) -> frozenset[str]:
        """Options that only the diffusion parser has: a launch with one is none of the server's, unless it
        has one of ``server_only`` too. ``--dp`` is how people write the server's ``--dp-size``."""
        both = self.facts.diffusion_options & {one.removesuffix("-size") for one in self.spellings}
        return self.facts.diffusion_options - self.spellings - both

    @cached_property
    def server_only(self) -> frozenset[str]:
        """Options of the server, of whatever version, that the diffusion parser has not."""
        return self.spellings - self.facts.diffusion_options

    @property
    def serve_since(self) -> str | None:
        """The oldest version that has ``sglang serve``."""
        return next(iter(self.facts.serve_rules), None)

    def serve_rule(self, version: str) -> ServeRule | None:
        """Return what ``sglang serve`` does in a version, or did in the newest older one that is known; None
        where there is no such command."""
        rules, at = self.facts.serve_rules, self.position[version]
        return next((rules[older] for older in reversed(self.versions[: at + 1]) if older in rules), None)

    @cached_property
    def spellings(self) -> frozenset[str]:
        """Every option string of every covered version."""
        return frozenset(self.facts.option_spans)


def show(location: Location | None) -> str | None:
    """Return ``path:line``, or None."""
    return f"{location.path}:{location.line}" if location else None
