"""What an expression may stand for: atoms, each with the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from indexer.syntax.callgraph.expressions import Expr
from indexer.syntax.callgraph.symbols import Class, Function, Module

SelfContext = tuple[Class, bool]
"""The class of ``self``, and whether it is exactly that class (constructed) or maybe a subclass."""


class Evidence(NamedTuple):
    """Why an atom is believed: the kind of inference and the line that says so."""

    how: str
    at: tuple[str, int] | None = None
    guard: tuple[str, int] | None = None


CERTAIN = Evidence("name")


class Instance(NamedTuple):
    """An object of a class; not ``exact`` when only a base was named."""

    cls: Class
    exact: bool


class ClassObject(NamedTuple):
    """A class itself."""

    cls: Class
    exact: bool


class Callable(NamedTuple):
    """A function, or a method bound to ``context``."""

    function: Function
    context: SelfContext | None


class Super(NamedTuple):
    """``super()`` inside ``owner`` for an object of ``context``."""

    owner: Class
    context: SelfContext


class ModuleObject(NamedTuple):
    """A module."""

    module: Module


class Elements(NamedTuple):
    """A container (list, dict values, iterator) of atoms."""

    atoms: tuple[Atom, ...]


class Parts(NamedTuple):
    """A tuple with known positions."""

    parts: tuple[tuple[Atom, ...], ...]


class LambdaObject(NamedTuple):
    """A lambda with the frame it closes over."""

    parameters: tuple[str, ...]
    body: Expr
    frame: Frame


Atom = Any
"""One of the records above."""

Types = dict[Atom, Evidence]


class Frame(NamedTuple):
    """Where an expression is evaluated: function, class of ``self``, parameters known from the caller."""

    module: Module
    function: Function | None
    context: SelfContext | None
    bound: tuple[tuple[str, tuple[Atom, ...]], ...] = ()


def merge(into: Types, other: Types) -> None:
    """Add atoms; the first evidence for an atom stays."""
    for atom, evidence in other.items():
        into.setdefault(atom, evidence)


def with_evidence(types: Types, how: str, at: tuple[str, int] | None, guard: tuple[str, int] | None) -> Types:
    """Return the atoms with the evidence of the place that carried them here."""
    return {atom: Evidence(how, at, guard) for atom in types}


def element_atoms(atom: Atom) -> tuple[Atom, ...]:
    """Return what iterating over an atom gives."""
    if isinstance(atom, Elements):
        return atom.atoms
    if isinstance(atom, Parts):
        return tuple(dict.fromkeys(a for part in atom.parts for a in part))
    return ()


def pick(types: Types, index: tuple[int, ...]) -> Types:
    """Return the part of a value at a tuple position."""
    for position in index:
        found: Types = {}
        for atom, evidence in types.items():
            if isinstance(atom, Parts):
                if position < len(atom.parts):
                    merge(found, dict.fromkeys(atom.parts[position], evidence))
            elif isinstance(atom, Elements):
                merge(found, dict.fromkeys(atom.atoms, evidence))
        types = found
    return types


def prefer_concrete(found: Types, declared: Iterable[Atom]) -> Types:
    """Keep what fits the annotation, where anything does: the concrete class wins over the declared."""
    bases = [a.cls for a in declared if isinstance(a, Instance | ClassObject)]
    if not bases:
        return found
    fitting = {
        atom: ev
        for atom, ev in found.items()
        if not isinstance(atom, Instance | ClassObject) or any(atom.cls.is_below(base) for base in bases)
    }
    return fitting if any(isinstance(a, Instance | ClassObject) for a in fitting) else {}
