"""Running small sources of our own in the interpreter."""

from __future__ import annotations

import sys
import types
from typing import Any

from indexer.interpret.explore import Exploration, explore
from indexer.interpret.launch import Launch
from indexer.interpret.modules import Program
from indexer.interpret.running import run_with_deep_stack
from indexer.interpret.world import World
from tests.trees import MemoryTree


def program_of(files: dict[str, str], launch: Launch | None = None, eager: bool = False) -> Program:
    """Return a program of modules given as ``{"sglang/a.py": source}``."""
    tree = MemoryTree({f"python/{path}": source for path, source in files.items()})
    facts = launch or Launch(packages_complete=True)
    return Program([(tree, "python/")], World(facts), lambda dotted: eager)


def run(source: str, launch: Launch | None = None, **others: str) -> Any:
    """Return what ``result()`` of a module gives, on the path where all unknowns are false."""
    return run_paths(source, launch, 1, **others).paths[0].result


def run_paths(
    source: str, launch: Launch | None = None, most_paths: int = 48, **others: str
) -> Exploration[Any]:
    """Explore ``result()`` of a module; an error becomes its path's result."""
    files = {"sglang/__init__.py": "", "sglang/main.py": source}
    files |= {f"sglang/{name}.py": text for name, text in others.items()}

    def path() -> Any:
        try:
            return program_of(files, launch).import_module("sglang.main").result()
        except BaseException as error:
            return error

    return run_with_deep_stack(lambda: explore(path, most_paths))


def native(source: str) -> Any:
    """Return what CPython makes of the same module: a value, or an error and the line it came from."""
    module = types.ModuleType("native_main")
    sys.modules[module.__name__] = module  # dataclasses looks string annotations up there
    try:
        exec(compile(source, "main.py", "exec"), vars(module))
        return module.result()
    except Exception as error:
        return error
    finally:
        del sys.modules[module.__name__]


def line_of(error: BaseException, filename: str) -> int | None:
    """Return the innermost line of a file that an error passed through."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(filename):
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
