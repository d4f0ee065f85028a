"""What a release's ``sglang serve`` does with its words, told by the shape of its source.

The command hands them to the server's parser or, for a diffusion model, to a parser of its own.
``indexer.extract.other_parsers`` writes the table that ships.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexer.knowledge.schema import ServeRule
from indexer.source.tree import PACKAGE_ROOT, SourceTree

_FOLDER = f"{PACKAGE_ROOT}/cli/"
_COMMAND = f"{_FOLDER}serve.py"
_DIFFUSION = re.compile(r"/multimodal_gen/runtime/(?:[\w/]*/)?server_args(?:/server_args)?\.py$")
_POSITIONAL = re.compile(r"""\[\s*["']--model-path["'],\s*(?P<argv>\w+)\[0\]""")
_MODEL_TYPE = re.compile(r"--model-type\b")
_MODEL_NEEDED = re.compile(r"model-path is required")
_LEFT_OVER = re.compile(r"\bparse_known_args\(")
"""How the command hands on what it doesn't know, to be refused or not."""
_REFUSES = re.compile(r"^\s*raise SystemExit\([^)]*unrecognized arguments", re.MULTILINE)
_MAY_REFUSE = re.compile(r"unrecognized arguments")
_TAKEN = re.compile(r"""["'](--[\w-]+\.)["']|(?:endswith\(|alias_suffix=)\s*["'](-[\w-]+)["']""")


def serve_rule(tree: SourceTree) -> ServeRule | None:
    """Return what a tree's command does, None where there is none."""
    paths = list(tree.walk())
    if _COMMAND not in paths:
        return None
    command = tree.text(_COMMAND)
    folder = {path: tree.text(path) for path in paths if path.startswith(_FOLDER) and path.endswith(".py")}
    diffusion = "\n".join(tree.text(path) for path in paths if _DIFFUSION.search(path))
    asks = _place(_MODEL_NEEDED, folder)
    return ServeRule(
        positional=_has(_POSITIONAL, folder.values(), known=asks is not None),
        model_type=_has(_MODEL_TYPE, folder.values(), known=asks is not None),
        refuses=_refuses(command, diffusion),
        taken=sorted({match[1] or match[2] for match in _TAKEN.finditer(diffusion)}),
        at=asks or _COMMAND,
    )


def _has(wanted: re.Pattern[str], sources: Iterable[str], *, known: bool) -> bool | None:
    """Whether a shape occurs; that it doesn't means nothing in a command of a shape that isn't ``known``."""
    return any(map(wanted.search, sources)) or (False if known else None)


def _refuses(command: str, diffusion: str) -> bool | None:
    if _REFUSES.search(diffusion):
        return True
    ignores = _LEFT_OVER.search(command) and diffusion and not _MAY_REFUSE.search(diffusion)
    return False if ignores else None


def _place(wanted: re.Pattern[str], sources: dict[str, str]) -> str | None:
    for path, source in sources.items():
        found = wanted.search(source)
        if found is not None:
            return f"{path}:{source.count(chr(10), 0, found.start()) + 1}"
    return None
