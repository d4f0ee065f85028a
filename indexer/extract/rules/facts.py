"""What one file says on its own: the cacheable half of rule extraction.

Nothing here depends on any other file, so a file's facts are keyed by its blob alone. Which attribute
is a ServerArgs field, which function a call reaches and in which order, is decided when files are
linked (``linker``, ``reach``).
"""

from __future__ import annotations

import msgspec


class Expr(msgspec.Struct, frozen=True, omit_defaults=True):
    """An expression as one line of source text, with what it reads.

    ``chains`` are dotted reads (``self.server_args.tp_size``, ``get_spec().topk``), ``names`` bare
    names, ``calls`` the dotted callees, ``strings`` the string constants.
    """

    text: str
    chains: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()


class Atom(msgspec.Struct, frozen=True, omit_defaults=True):
    """One conjunct of a guard.

    ``how`` tells where it comes from: ``if`` (an enclosing test), ``else`` (an enclosing chain's
    earlier test), ``return`` / ``raise`` / ``assert`` (an earlier exit of the same function that was
    not taken), ``loop``, ``except``, ``case``.
    """

    expr: Expr
    holds: bool
    line: int
    how: str = "if"


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement that may become a rule.

    ``kind`` is one of raise, assert, log, store, item (a dict's key), table (a row of a constant table),
    declare, unpack (a dict declared by ``**``), environment, result (a returned dict), value (any other
    returned value), accumulate. ``targets`` are raw: attribute chains of a store, keys of a dict,
    variable names of the environment. ``container`` is the dict that is written, the callee of a
    declaration, the accumulating local, or the level of a log line.
    ``block`` is the first line of the innermost block: effects of one block belong together.
    """

    kind: str
    shape: str
    line: int
    end_line: int
    block: int
    guard: tuple[Atom, ...] = ()
    targets: tuple[str, ...] = ()
    values: tuple[Expr, ...] = ()
    message: str | None = None
    reads: Expr | None = None
    exception: str | None = None
    container: str | None = None
    bindings: dict[str, str] = {}


class Argument(msgspec.Struct, frozen=True, omit_defaults=True):
    """One argument of a call; ``name`` is None for a positional one, ``*`` / ``**`` for unpacking."""

    expr: Expr
    name: str | None = None
    literal: bool = False


class CallSite(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call, with the guard under which it runs.

    ``role`` is what becomes of the result: ``returned``, ``assigned`` (to ``result_name``), ``unpacked``
    (into a ``**`` argument), or nothing.
    """

    callee: str
    line: int
    guard: tuple[Atom, ...] = ()
    arguments: tuple[Argument, ...] = ()
    role: str | None = None
    result_name: str | None = None


class Definition(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value bound to a local name, with the tests around the binding."""

    expr: Expr
    line: int
    guard: tuple[Atom, ...] = ()


class Function(msgspec.Struct, omit_defaults=True):
    """Everything a function does that matters to rules.

    ``name`` is its qualified name (``Class.method``, ``outer.inner``), ``parameters`` their names in
    order. ``globals`` are the upper-case module
    names the body reads or writes: how a registry and its reader find each other.
    """

    name: str
    line: int
    end_line: int
    parameters: tuple[str, ...] = ()
    annotations: dict[str, str] = {}
    defaults: dict[str, str] = {}
    decorators: tuple[Expr, ...] = ()
    effects: list[Effect] = []
    calls: list[CallSite] = []
    definitions: dict[str, list[Definition]] = {}
    globals: tuple[str, ...] = ()


class RuleFacts(msgspec.Struct, omit_defaults=True):
    """All functions of one file, in source order; the module body comes first, named ``""``."""

    functions: list[Function] = []
