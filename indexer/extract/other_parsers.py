"""What ``sglang serve`` does with its words, and the options of its parser for diffusion models.

``python -m indexer.extract.other_parsers WHEEL_FOLDER OUT.json`` writes the table that ships: of all releases
there the option strings that the server's parser has not, and release by release what the command does.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from indexer.extract.serve_command import serve_rule
from indexer.knowledge.schema import ServeRule
from indexer.source.tree import SourceTree

_FOLDER = "/multimodal_gen/"
_NOT_SERVED = ("/test/", "/benchmarks/", "/configs/sample/")
"""Folders whose options are not ones of ``sglang serve``."""
_DECLARED = re.compile(
    r"add_argument\(\s*(?P<options>(?:[\"']-{1,2}[\w-]+[\"'],?\s*)+)"
    r"(?P<more>.*?)(?=add_argument\(|\n\s*def |\Z)",
    re.DOTALL,
)
"""``more`` may hold code behind the call: then the option's shape is told less, never more."""
_OPTION = re.compile(r"--[\w-]+")
_KEYWORD = re.compile(r"(?<!\w)(type|action|nargs|choices|const)\s*=\s*([\w.]*)")
NUMBERS = ("int", "float")


def diffusion_options(tree: SourceTree) -> dict[str, str]:
    """Return the option strings that the tree's diffusion parser declares, each with the ``type=`` of its one
    value: ``int``, ``float``, ``str``; or ``""`` for an option of any other shape."""
    found: dict[str, str] = {}
    for option, shape in _declared(tree):
        found[option] = shape if found.get(option, shape) == shape else ""
    return found


def _declared(tree: SourceTree) -> Iterator[tuple[str, str]]:
    for path in tree.walk():
        served = _FOLDER in path and not any(folder in path for folder in _NOT_SERVED)
        if served and ("server_args" in path or "/configs/" in path) and path.endswith(".py"):
            for call in _DECLARED.finditer(tree.text(path)):
                shape = _shape(dict(_KEYWORD.findall(call["more"])))
                yield from ((option, shape) for option in _OPTION.findall(call["options"]))


def _shape(keywords: dict[str, str]) -> str:
    """Return the ``type=`` of a declaration that stores one value of any content."""
    kind = keywords.pop("type", "str")
    return kind if kind in (*NUMBERS, "str") and not keywords else ""


def main(folder: Path, target: Path) -> None:
    """Write the facts of all release wheels in a folder."""
    from packaging.version import Version

    from indexer.source.release import WheelTree

    wheels = {wheel.name.split("-")[1]: wheel for wheel in folder.glob("sglang-*.whl")}
    shapes: dict[str, set[str]] = {}
    rules: dict[str, ServeRule] = {}
    for version in sorted(wheels, key=Version):
        tree = WheelTree(wheels[version], version)
        for option, shape in diffusion_options(tree).items():
            shapes.setdefault(option, set()).add(shape)
        rule = serve_rule(tree)
        if rule is not None:
            rules[version] = rule
    plain = {option: kinds.pop() for option, kinds in sorted(shapes.items()) if len(kinds) == 1}
    facts = {
        "diffusion": sorted(shapes),
        "one_value": {option: kind for option, kind in plain.items() if kind},
        "serve": msgspec.to_builtins(rules),
    }
    target.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
