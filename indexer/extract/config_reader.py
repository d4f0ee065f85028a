"""How a release's reader of ``--config`` files treats keys, told by the shape of its source.

``python -m indexer.extract.config_reader WHEEL_FOLDER OUT.json`` writes the table that ships.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from indexer.source.tree import SourceTree

ABSENT, TAKES_ALL, BY_DEST, BY_KEY = "absent", "takes-all", "by-dest", "by-key"
"""No such reader; every key is handed on; keys are refused whose dest has an action that is neither
store nor store_true; the same for every spelling of a key, but not where another action takes it."""

_FILE = "server_args_config_parser.py"


def config_rule(tree: SourceTree) -> str:
    """Return the rule of a tree."""
    path = next((path for path in tree.walk() if path.endswith("/" + _FILE)), None)
    if path is None:
        return ABSENT
    text = tree.text(path)
    if "unsupported_actions" not in text:
        return TAKES_ALL
    return BY_KEY if "supported_keys" in text else BY_DEST


def rules_of(folder: Path) -> dict[str, str]:
    """Return version → rule for the release wheels in a folder, oldest first."""
    from packaging.version import Version

    from indexer.source.release import WheelTree

    wheels = {wheel.name.split("-")[1]: wheel for wheel in folder.glob("sglang-*.whl")}
    return {
        version: config_rule(WheelTree(wheels[version], version)) for version in sorted(wheels, key=Version)
    }


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(rules_of(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
