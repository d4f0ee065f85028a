"""The snapshot: everything known about one SGLang tree.

Every struct is a plain fact record. A value that can't be known statically is an ``Unknown`` with
its reason and line, never a guess. Field order is the serialised order; encoding is deterministic.
"""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA_VERSION = 1


class Location(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in the tree. ``path`` is repo-relative, lines are 1-based, ``symbol`` is the
    enclosing ``Class.function`` (or the name of the thing cited)."""

    path: str
    line: int
    end_line: int | None = None
    symbol: str | None = None


class Unknown(msgspec.Struct, frozen=True):
    """A value that can't be known statically: why, and the line that says so."""

    unknown: str
    at: Location | None = None


Value = Any
"""A JSON value, or ``{"repr": ...}`` for what JSON can't carry, or an ``Unknown``."""


class Choice(msgspec.Struct, omit_defaults=True):
    """One accepted value of a flag and where it is written."""

    value: Value
    at: Location | None = None
    condition: str | None = None


class Deprecation(msgspec.Struct, omit_defaults=True):
    """What the tree says about a deprecated flag, choice or variable."""

    at: Location
    replacement: str | None = None
    message: str | None = None
    raises: bool = False


class Read(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place that reads a flag or variable; ``how`` names the shape of the read."""

    at: Location
    how: str | None = None


class Flag(msgspec.Struct, omit_defaults=True):
    """One argparse action of the server's parser.

    ``name`` is the id's stem: the first option string without dashes. ``action``, ``type`` and the
    rest use argparse's own names (``_StoreAction``, ``int``). ``default`` is what argparse holds;
    ``fallback`` what the tree uses when the default is left None. ``help`` is the text argparse
    holds before its own formatting, None where there is none or it is suppressed.
    """

    name: str
    option_strings: list[str]
    dest: str
    action: str
    nargs: Value = None
    const: Value = None
    default: Value = None
    type: Value = None
    choices: list[Value] | Unknown | None = None
    required: bool = False
    metavar: Value = None
    help: str | Unknown | None = None
    help_suppressed: bool = False
    choices_at: list[Choice] = []
    choices_container: str | None = None
    choices_open: Location | None = None
    declared_at: Location | None = None
    registered_at: Location | None = None
    field: str | None = None
    field_default: Value = None
    namespace: str | None = None
    deprecated: Deprecation | None = None
    fallback: Value = None
    env: str | None = None
    machine_dependent: list[str] = []
    read_at: list[Read] = []


class Field(msgspec.Struct, omit_defaults=True):
    """A field of the ServerArgs record, also one without a flag."""

    name: str
    has_cli: bool
    has_default: bool = True
    default: Value = None
    type: str | None = None
    declared_at: Location | None = None
    namespace: str | None = None


class Alias(msgspec.Struct, omit_defaults=True):
    """A spelling accepted for an algorithm, and where it is turned into the other."""

    name: str
    resolves_to: str
    at: Location
    condition: str | None = None


class Worker(msgspec.Struct, omit_defaults=True):
    """The worker class created for an algorithm under a condition (source text)."""

    class_name: str
    condition: str | None
    selected_at: Location
    class_at: Location | None = None


class Algorithm(msgspec.Struct, omit_defaults=True):
    """A member of the speculative algorithm enum or registry.

    ``aliases`` are other spellings of it, ``promoted_from`` algorithms that become it under a condition.
    ``cli_at`` is its entry in the flag's list of choices; ``documented`` is False where the flag takes any
    name and its help leaves this one out. ``flags`` are the record's fields that its workers read, with
    the places in ``flag_reads``; ``tested_before_alias`` are tests for its name that run while another
    spelling still stands.
    """

    name: str
    declared_at: Location
    cli: bool = True
    kind: str = "enum"
    aliases: list[Alias] = []
    predicates: dict[str, Value] = {}
    predicates_at: dict[str, Location] = {}
    workers: list[Worker] = []
    draft_model: str | None = None
    draft_model_at: list[Location] = []
    flags: list[str] = []
    automatic: list[Location] = []
    rules: list[str] = []
    promoted_from: list[Alias] = []
    cli_at: Location | None = None
    documented: bool = True
    flag_reads: dict[str, list[Read]] = {}
    tested_before_alias: list[Location] = []


class AlgorithmRegistry(msgspec.Struct, omit_defaults=True):
    """Where algorithms are declared, parsed, and whether plugins can add more."""

    declared_at: Location | None = None
    parsed_at: Location | None = None
    worker_at: Location | None = None
    open: bool = False
    open_at: Location | None = None
    platform_at: Location | None = None


class Condition(msgspec.Struct, frozen=True, omit_defaults=True):
    """One conjunct of a guard: source text, and whether it must hold or must not.

    On a code path ``kind`` says what decides it (flag, mode, algorithm, platform, pool or state, the
    last being run-time state) and ``flags`` are the configuration fields it reads.

    ``how`` says where it comes from: ``if`` (an enclosing test), ``else`` (an earlier test of the same
    chain), ``return`` / ``raise`` / ``assert`` (an earlier way out that was not taken), ``loop``,
    ``except``, ``case``, ``provider`` (what a registering decorator names); with ``caller`` before it
    where a caller tests it; ``callers`` for the alternatives of several call sites.
    """

    text: str
    holds: bool = True
    at: Location | None = None
    flags: list[str] = []
    kind: str | None = None
    how: str = "if"


class Rule(msgspec.Struct, omit_defaults=True):
    """Something the resolver or a start-up check does to a launch.

    ``kind`` is one of error, assert, warning, notice, override. ``targets`` are the field names an
    override writes (``env:NAME`` for an environment variable, a dotted path for a nested one) or a
    check is about; ``values`` the value expressions beside them, or the asserted expression.
    ``message`` is the template, ``{expression}`` where run time fills in a value; an override has that
    of the log line beside it, whose rule ``companion`` names. ``flags`` are all fields read in guard,
    value and message, through ``helpers`` too. ``bindings`` holds what the loop variables stand for in
    a rule that was unrolled from a table, ``where`` what the local names of its guard were set from.
    ``order`` counts in the order of execution; ``overridable``
    marks a step that plugins can replace.
    """

    id: str
    kind: str
    at: Location
    function: str
    guard: list[Condition] = []
    targets: list[str] = []
    values: list[str] = []
    message: str | None = None
    exception: str | None = None
    flags: list[str] = []
    helpers: list[str] = []
    shape: str | None = None
    order: int | None = None
    stage: str | None = None
    group: str | None = None
    companion: str | None = None
    bindings: dict[str, str] = {}
    overridable: bool = False
    where: dict[str, str] = {}


class EnvVar(msgspec.Struct, omit_defaults=True):
    """An environment variable the tree declares or reads. ``notice`` is what the tree says of one that it
    knows for nothing else: ``warning`` or ``error``, where it is set."""

    name: str
    type: str | None = None
    default: Value = None
    declared_at: Location | None = None
    read_at: list[Read] = []
    set_at: list[Read] = []
    deprecated: Deprecation | None = None
    relevance: list[str] = []
    notice: str | None = None


class Model(msgspec.Struct, omit_defaults=True):
    """A model architecture."""

    architecture: str
    declared_at: Location
    entry_class_at: Location | None = None
    config_class: str | None = None
    hybrid: dict[str, Value] | None = None
    draft: dict[str, Value] | None = None
    radix: dict[str, Value] | None = None
    backends: list[dict[str, Value]] = []
    overrides: list[dict[str, Value]] = []
    is_draft: bool = False


class Step(msgspec.Struct, omit_defaults=True):
    """One function on a code path, with the edge that leads to it.

    Steps come in preorder: ``depth`` and ``parent`` (a step's id) give the tree, ``call_at`` the line
    of the call in the parent. ``waypoint`` is the first of ``points``, the way-points it stands for.
    ``certainty`` is certain, typed, selected, declared or guessed; ``how`` the kind of inference and
    ``witnesses`` the lines that gave the class. ``kind`` is call, property, constructor, module call,
    kernel launch, nested or callback; ``class_name`` the class of ``self``. ``anchors`` are lines in the
    function worth reading. ``state`` are its reads and writes of the pools. An ``unconnected`` step was
    found by its role, not by a call.
    """

    id: str
    function: str
    at: Location
    depth: int
    parent: str | None = None
    waypoint: str | None = None
    call_at: Location | None = None
    how: str | None = None
    certainty: str | None = None
    guards: list[Condition] = []
    anchors: list[Location] = []
    state: list[dict[str, Value]] = []
    alternatives: list[dict[str, Value]] = []
    points: list[str] = []
    phase: str | None = None
    kind: str | None = None
    class_name: str | None = None
    class_at: Location | None = None
    witnesses: list[Location] = []
    unconnected: bool = False


class CodePath(msgspec.Struct, omit_defaults=True):
    """A named path through the tree; ``complete`` is False when a way-point is missing."""

    name: str
    title: str
    context: dict[str, Value] = {}
    steps: list[Step] = []
    gaps: list[dict[str, Value]] = []
    findings: list[dict[str, Value]] = []
    complete: bool = True
    question: str | None = None
    words: list[str] = []
    flags: list[str] = []


class StatedReplacement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message of the tree: instead of ``old`` (an option string or variable) use ``new`` (an option
    string), written as ``text`` (``--new=value``)."""

    old: str
    new: str
    at: Location
    text: str


class ServeRule(msgspec.Struct, frozen=True):
    """What a release's ``sglang serve`` does with its words; None where the shape of the source doesn't tell.

    ``positional``: the first word may be the model. ``model_type``: ``--model-type`` overrides the choice of
    the parser. ``refuses``: the diffusion parser refuses an option that it doesn't know (else it ignores it),
    but for those with a beginning (``--x.``) or an end (``-x``) in ``taken``, which name a component. ``at``
    is the ``path:line`` that asks for the model.
    """

    positional: bool | None
    model_type: bool | None
    refuses: bool | None
    taken: list[str]
    at: str


class Unrecognised(msgspec.Struct, omit_defaults=True):
    """Something that looked like a declaration but no recogniser claimed."""

    kind: str
    at: Location
    text: str
    reason: str | None = None


class Coverage(msgspec.Struct, omit_defaults=True):
    """What was seen, recognised and not, by kind."""

    layouts: list[str] = []
    counts: dict[str, dict[str, int]] = {}
    unrecognised: list[Unrecognised] = []
    unknown: list[Unrecognised] = []


class Source(msgspec.Struct, omit_defaults=True):
    """Which tree was read."""

    version: str
    origin: str
    artifact: str | None = None
    sha256: str | None = None
    commit: str | None = None
    dirty: bool = False
    permalink_base: str | None = None


class Snapshot(msgspec.Struct, omit_defaults=True):
    """All facts of one tree; ``left_out`` names the kinds of facts that were not asked for."""

    schema: int
    source: Source
    flags: list[Flag] = []
    fields: list[Field] = []
    registry: AlgorithmRegistry | None = None
    algorithms: list[Algorithm] = []
    rules: list[Rule] = []
    models: list[Model] = []
    code_paths: list[CodePath] = []
    env_vars: list[EnvVar] = []
    coverage: Coverage = msgspec.field(default_factory=Coverage)
    generator: str = ""
    replacements: list[StatedReplacement] = []
    left_out: list[str] = []
