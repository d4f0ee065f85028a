"""Options that ``sglang serve`` takes for diffusion models, of which the server's parser has none.

``python -m indexer.extract.other_parsers WHEEL_FOLDER OUT.json`` writes the list that ships: every
such option string of every release there.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from indexer.source.tree import SourceTree

_FOLDER = "/multimodal_gen/"
_DECLARED = re.compile(r"add_argument\(\s*((?:[\"']-{1,2}[\w-]+[\"'],?\s*)+)")
_OPTION = re.compile(r"--[\w-]+")


def diffusion_options(tree: SourceTree) -> set[str]:
    """Return the option strings that the tree's diffusion package declares outside of its tests."""
    found: set[str] = set()
    for path in tree.walk():
        if _FOLDER in path and "/test/" not in path and "/benchmarks/" not in path and "server_args" in path:
            for call in _DECLARED.finditer(tree.text(path)):
                found |= set(_OPTION.findall(call[1]))
    return found


def main(folder: Path, target: Path) -> None:
    """Write the options of all release wheels in a folder."""
    from indexer.source.release import WheelTree

    found: set[str] = set()
    for wheel in sorted(folder.glob("sglang-*.whl")):
        found |= diffusion_options(WheelTree(wheel, wheel.name.split("-")[1]))
    target.write_text(json.dumps({"diffusion": sorted(found)}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
