"""The facts of one version that are followed across versions: a snapshot without its prose.

Help texts are kept as hashes, deprecation messages only as the replacement they name, and an unknown
value without the line of its reason (which moves in each release and says nothing about the value).
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from indexer.knowledge.schema import (
    Algorithm,
    EnvVar,
    Field,
    Flag,
    Location,
    Snapshot,
    StatedReplacement,
    Value,
)

HELP_HASH_LENGTH = 8
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")


class DeprecationFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A deprecation: the option or variable to use instead, and whether using the old one fails."""

    replacement: str | None = None
    raises: bool = False


class FlagFact(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One flag in one version, under argparse's own names.

    ``choices`` is a list (sorted where the source holds a set) or ``{"unknown": reason}``;
    ``choices_open`` tells that plugins may add more. ``help`` is a hash of the text. ``field`` is the
    record's field where it is not named like ``dest``.
    """

    name: str
    option_strings: list[str] = []
    dest: str = ""
    action: str = "_StoreAction"
    nargs: Value = None
    const: Value = None
    default: Value = None
    type: Value = None
    choices: Value = None
    choices_open: bool = False
    required: bool = False
    metavar: Value = None
    help: str | None = None
    hidden: bool = False
    deprecated: DeprecationFact | None = None
    fallback: Value = None
    field: str | None = None
    env: str | None = None
    machine_dependent: list[str] = []
    declared_at: Location | None = None


class AlgorithmFact(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A speculative algorithm in one version. ``aliases`` are the other spellings that resolve to it,
    ``cli`` whether it can be asked for by name."""

    name: str
    kind: str = "enum"
    cli: bool = True
    aliases: list[str] = []
    declared_at: Location | None = None


class EnvFact(msgspec.Struct, omit_defaults=True, kw_only=True):
    """An environment variable in one version. ``read_at`` is only told of one that is declared nowhere;
    ``notice`` is what is said (``warning``, ``error``) where one is set that is known for nothing else."""

    name: str
    type: str | None = None
    default: Value = None
    deprecated: DeprecationFact | None = None
    declared_at: Location | None = None
    read_at: Location | None = None
    notice: str | None = None

    @property
    def is_setting(self) -> bool:
        """Whether setting the variable does more than bring a notice that it is gone. Of one that the tree
        only writes a library may read the value; an old name hands it to a variable that took its place."""
        named_only = self.deprecated is not None and self.read_at is None
        if self.declared or not (self.notice or named_only):
            return True
        heir = self.deprecated.replacement if self.deprecated else None
        return heir is not None and _VARIABLE.fullmatch(heir) is not None

    @property
    def declared(self) -> bool:
        """Whether the tree declares the variable."""
        return self.declared_at is not None


class FieldFact(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A field of the ServerArgs record: what ``Engine(...)`` and ``args.NAME`` know. ``default`` is only
    kept for a field without a flag."""

    name: str
    has_cli: bool = True
    default: Value = None


class Facts(msgspec.Struct, omit_defaults=True):
    """All followed facts of one version.

    ``unrecognised`` counts what looked like a declaration but could not be read, ``unknown`` the values
    that can't be known statically; both are told when a history is built and not kept in it.
    """

    version: str
    flags: list[FlagFact] = []
    algorithms: list[AlgorithmFact] = []
    env_vars: list[EnvFact] = []
    fields: list[FieldFact] = []
    replacements: list[StatedReplacement] = []
    unrecognised: int = 0
    unknown: int = 0

    def option_to_flag(self) -> dict[str, FlagFact]:
        """Return every accepted option string with its flag."""
        return {option: flag for flag in self.flags for option in flag.option_strings}


def facts_of(snapshot: Snapshot) -> Facts:
    """Return the followed facts of a snapshot."""
    return Facts(
        version=snapshot.source.version,
        flags=[_flag(flag) for flag in snapshot.flags],
        algorithms=[_algorithm(algorithm) for algorithm in snapshot.algorithms],
        env_vars=[env_fact(variable) for variable in snapshot.env_vars],
        fields=[_field(field) for field in snapshot.fields],
        replacements=snapshot.replacements,
        unrecognised=len(snapshot.coverage.unrecognised),
        unknown=len(snapshot.coverage.unknown),
    )


def help_hash(text: str) -> str:
    """Return the short hash under which a help text is kept."""
    return hashlib.sha256(text.encode()).hexdigest()[:HELP_HASH_LENGTH]


def _flag(flag: Flag) -> FlagFact:
    choices = _plain(flag.choices)
    if isinstance(choices, list) and flag.choices_container in {"set", "frozenset"}:
        choices = sorted(choices, key=str)
    return FlagFact(
        name=flag.name,
        option_strings=flag.option_strings,
        dest=flag.dest,
        action=flag.action,
        nargs=_plain(flag.nargs),
        const=_plain(flag.const),
        default=_plain(flag.default),
        type=_plain(flag.type),
        choices=choices,
        choices_open=flag.choices_open is not None,
        required=flag.required,
        metavar=_plain(flag.metavar),
        help=help_hash(flag.help) if isinstance(flag.help, str) else None,
        hidden=flag.help_suppressed,
        deprecated=_deprecation(flag),
        fallback=_plain(flag.fallback),
        field=flag.field if flag.field != flag.dest else None,
        env=flag.env,
        machine_dependent=flag.machine_dependent,
        declared_at=_place(flag.declared_at),
    )


def _algorithm(algorithm: Algorithm) -> AlgorithmFact:
    return AlgorithmFact(
        name=algorithm.name,
        kind=algorithm.kind,
        cli=algorithm.cli,
        aliases=sorted({alias.name for alias in algorithm.aliases}),
        declared_at=_place(algorithm.declared_at),
    )


def env_fact(variable: EnvVar) -> EnvFact:
    """Return the followed fact of an environment variable."""
    reads = sorted(variable.read_at, key=lambda read: (read.at.path, read.at.line))
    return EnvFact(
        name=variable.name,
        type=variable.type,
        default=_plain(variable.default),
        deprecated=_deprecation(variable),
        declared_at=_place(variable.declared_at),
        read_at=_place(reads[0].at) if reads and variable.declared_at is None else None,
        notice=variable.notice,
    )


def _field(field: Field) -> FieldFact:
    return FieldFact(
        name=field.name,
        has_cli=field.has_cli,
        default=None if field.has_cli else _plain(field.default),
    )


def _deprecation(fact: Flag | EnvVar) -> DeprecationFact | None:
    if fact.deprecated is None:
        return None
    return DeprecationFact(fact.deprecated.replacement, fact.deprecated.raises)


def _place(at: Location | None) -> Location | None:
    return Location(at.path, at.line) if at else None


def _plain(value: Any) -> Value:
    """Return a value as plain JSON, an unknown without its line."""
    plain = msgspec.to_builtins(value)
    return _without_lines(plain)


def _without_lines(value: Any) -> Value:
    if isinstance(value, dict):
        if "unknown" in value:
            return {"unknown": value["unknown"]}
        return {key: _without_lines(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_lines(item) for item in value]
    return value
