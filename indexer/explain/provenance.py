"""Who wrote a field of the record: the lines, noted while the resolver runs.

Four shapes write: a store to an attribute of the record, a dictionary that a pass or provider
returns and a helper stores, a declaration that is kept beside the record
(``declare_resolution(record, source, field=value)``), and a decision put there without one.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from indexer.explain.declared import Declared, Write, decided_beside, returned, written_by
from indexer.interpret.compiled import MARK
from indexer.interpret.marks import is_interpreted_function

DECLARE = "declare_resolution"
DECLARING_MODULE = "sglang.srt.arg_groups.overrides"
HOOK = "@declared"


def trace_writes(program: Any, module: Any, writes: list[Write], declared: list[Declared]) -> None:
    """Start adding writes to the record to a list, in order, and declarations to another."""
    record = module.ServerArgs
    fields: Any = getattr(record, "__dataclass_fields__", ()) or getattr(record, "__struct_fields__", ())
    names = set(fields)
    _trace_stores(record, names, writes, program)
    _trace_declarations(program, names, writes, declared)


def _trace_stores(record: Any, names: set[str], writes: list[Write], program: Any) -> None:
    original = record.__setattr__

    def store(self: Any, name: str, value: Any) -> None:
        if name in names:
            frame = _interpreted_frame()
            if frame is not None:
                made = returned(program, name, value) or decided_beside(program, self, name, value)
                writes.append(made or Write(name, *frame))
        original(self, name, value)

    type.__setattr__(record, "__setattr__", store)


def _trace_declarations(program: Any, names: set[str], writes: list[Write], noted: list[Declared]) -> None:
    declaring = program.find(DECLARING_MODULE)
    if declaring is None or not declaring._rt_state.offers(DECLARE):
        return
    function = declaring._rt_state.lookup(DECLARE)
    if not is_interpreted_function(function) or function.__closure__:
        return
    original = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    original.__kwdefaults__ = function.__kwdefaults__

    def declared(*args: Any, **kwargs: Any) -> Any:
        frame = _interpreted_frame(skip=DECLARE)
        source = args[1] if len(args) > 1 else kwargs.get("source")
        noted.append(Declared(source, kwargs))
        for name, value in kwargs.items():
            if name in names and frame is not None:
                made = written_by(program, name, value, source, frame[2]) or returned(program, name, value)
                writes.append(made or Write(name, *frame))
        return original(*args, **kwargs)

    # Every module that imported the function holds this very object, so its code is replaced.
    function.__globals__[HOOK] = declared
    function.__code__ = _trampoline(function.__code__.co_filename)
    function.__defaults__ = function.__kwdefaults__ = None


def _trampoline(filename: str) -> types.CodeType:
    import ast

    tree = ast.parse("def call(*args, **kwargs): return HOOK(*args, **kwargs)")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "HOOK":
            node.id = HOOK
        elif isinstance(node, ast.FunctionDef):
            node.name = HOOK
    code = compile(tree, filename, "exec")
    return next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def _interpreted_frame(skip: str | None = None) -> tuple[str, int, str] | None:
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename[:1] == MARK and code.co_name not in (skip, HOOK):
            return code.co_filename[1:], frame.f_lineno, code.co_qualname
        frame = frame.f_back
    return None
