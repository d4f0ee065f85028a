"""What a release's ``sglang serve`` does with its words, told by the shape of its source.

The command hands them to the server's parser or, for a diffusion model, to a parser of its own.
``indexer.extract.other_parsers`` writes the table that ships.
"""

from __future__ import annotations

import re
from typing import TypedDict

from indexer.source.tree import SourceTree

REFUSED, IGNORED = "refused", "ignored"
"""What the diffusion parser does with an option that it doesn't know."""
_COMMAND = "/sglang/cli/serve.py"
_DIFFUSION = re.compile(r"/multimodal_gen/runtime/(?:[\w/]*/)?server_args(?:/server_args)?\.py$")
_POSITIONAL = re.compile(r"""\[\s*["']--model-path["'],\s*(?P<argv>\w+)\[0\]""")
_MODEL_NEEDED = re.compile(r"model-path is required")
_REFUSES = re.compile(r"^\s*raise SystemExit\([^)]*unrecognized arguments", re.MULTILINE)
_TAKEN = re.compile(r"""["'](--[\w-]+\.)["']|(?:endswith\(|alias_suffix=)\s*["'](-[\w-]+)["']""")


class ServeCommand(TypedDict):
    """``positional``: the first word may be the model. ``model_type``: ``--model-type`` overrides the choice
    of the parser; ``plugins``: installed packages add more of its values. ``unknown``: what becomes of an
    option that the diffusion parser doesn't know, but for those with a beginning (``--x.``) or an end
    (``-x``) in ``taken``, which name a component. ``at`` is the ``path:line`` that asks for the model."""

    positional: bool
    model_type: bool
    plugins: bool
    unknown: str
    taken: list[str]
    at: str


def serve_command(tree: SourceTree) -> ServeCommand | None:
    """Return what a tree's command does, None where there is none."""
    paths = list(tree.walk())
    path = next((one for one in paths if one.endswith(_COMMAND)), None)
    if path is None:
        return None
    source = tree.text(path)
    diffusion = "\n".join(tree.text(one) for one in paths if _DIFFUSION.search(one))
    taken = {match[1] or match[2] for match in _TAKEN.finditer(diffusion)}
    return {
        "positional": _POSITIONAL.search(source) is not None,
        "model_type": "--model-type" in source,
        "plugins": "ServeBackendRegistry" in source,
        "unknown": REFUSED if _REFUSES.search(diffusion) else IGNORED,
        "taken": sorted(taken),
        "at": _asks_for_model(tree, paths) or path,
    }


def _asks_for_model(tree: SourceTree, paths: list[str]) -> str | None:
    for path in paths:
        if "/sglang/cli/" in path and path.endswith(".py"):
            source = tree.text(path)
            asked = _MODEL_NEEDED.search(source)
            if asked is not None:
                return f"{path}:{source.count(chr(10), 0, asked.start()) + 1}"
    return None
