"""Opening a SGLang tree as a program."""

from __future__ import annotations

from indexer.interpret.launch import Launch
from indexer.interpret.modules import Program
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.interpret.world import World
from indexer.source.tree import SourceTree

ARGUMENTS = "sglang.srt.server_args"

_RUN_WHOLE = (ARGUMENTS, "sglang.srt.environ", "sglang.srt.arg_groups")
"""Modules whose statements are run in order, all of them: the record, its hooks and the environment.
The order of registrations among the hooks decides who writes a field last."""

_BELOW = tuple(name + "." for name in _RUN_WHOLE)


def run_whole(dotted: str) -> bool:
    """Tell whether a module is run as an import runs it instead of name by name."""
    return dotted in _RUN_WHOLE or dotted.startswith(_BELOW)


def open_program(tree: SourceTree, launch: Launch, transformers: ConfigurationTree | None = None) -> Program:
    """Return the tree as a program in the world of a launch, with nothing run yet."""
    return Program([(tree, "python/")], World(launch), run_whole, transformers)
