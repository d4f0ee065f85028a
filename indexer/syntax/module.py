"""The index of one file: what it imports and defines, with qualified names and lines."""

from __future__ import annotations

import msgspec

PACKAGE_PREFIX = "python/"


class Import(msgspec.Struct, array_like=True, frozen=True):
    """One name bound by an import.

    ``local`` is the bound name, ``*`` for a star import. ``module`` is absolute. ``name`` is the
    attribute imported from it, None where the module itself is bound (``import a.b`` binds ``a``).
    ``scope`` is the qualified name of the enclosing class or function, empty at module level.
    """

    local: str
    module: str
    name: str | None
    line: int
    scope: str = ""


class Parameter(msgspec.Struct, array_like=True, frozen=True):
    """A parameter with its annotation and default as source text."""

    name: str
    annotation: str | None = None
    default: str | None = None


class Function(msgspec.Struct, array_like=True, frozen=True):
    """A function or method; ``line`` is that of ``def``, ``start`` that of its first decorator."""

    qualname: str
    line: int
    end_line: int
    start: int
    decorators: list[str]
    parameters: list[Parameter]
    returns: str | None
    in_class: bool


class Class(msgspec.Struct, array_like=True, frozen=True):
    """A class; ``bases`` and ``decorators`` as source text, keywords (``metaclass=``) left out."""

    qualname: str
    line: int
    end_line: int
    start: int
    bases: list[str]
    decorators: list[str]


class Assignment(msgspec.Struct, array_like=True, frozen=True):
    """A name bound at module or class level. ``value`` is source text, None for a bare annotation
    and for values over 4000 characters; ``augmented`` marks ``+=`` and its kin."""

    qualname: str
    line: int
    end_line: int
    annotation: str | None
    value: str | None
    augmented: bool = False


class Module(msgspec.Struct, array_like=True):
    """The index of one file; every list is in source order."""

    path: str
    name: str
    is_package: bool
    imports: list[Import]
    classes: list[Class]
    functions: list[Function]
    assignments: list[Assignment]
    broken: bool = False


def module_name(path: str) -> str:
    """Return the dotted module name of a repo-relative path."""
    stem = path.removeprefix(PACKAGE_PREFIX).removesuffix(".py")
    return stem.removesuffix("/__init__").replace("/", ".")


def symbol_at(module: Module, line: int) -> str | None:
    """Return the qualified name of the innermost class or function around a line, if any."""
    best: tuple[int, str] | None = None
    definitions: list[Class | Function] = [*module.classes, *module.functions]
    for definition in definitions:
        if definition.start <= line <= definition.end_line and (best is None or definition.start >= best[0]):
            best = (definition.start, definition.qualname)
    return best[1] if best else None
