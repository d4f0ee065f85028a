"""How a release's reader of ``--config`` files treats keys, and when it is asked at all, told by the shape of
its source.

``python -m indexer.extract.config_reader WHEEL_FOLDER OUT.json`` writes the table that ships.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from indexer.source.tree import SourceTree

ABSENT, TAKES_ALL, BY_DEST, BY_KEY = "absent", "takes-all", "by-dest", "by-key"
"""No such reader; every key is handed on; keys are refused whose dest has an action that is neither
store nor store_true; the same for every spelling of a key, but not where another action takes it."""

_FILE = "server_args_config_parser.py"
_ASKED = re.compile(r"""\bif ["']--config["'] in \w+:""")


def config_rule(tree: SourceTree) -> str:
    """Return the rule of a tree."""
    path = next((path for path in tree.walk() if path.endswith("/" + _FILE)), None)
    if path is None:
        return ABSENT
    text = tree.text(path)
    if "unsupported_actions" not in text:
        return TAKES_ALL
    return BY_KEY if "supported_keys" in text else BY_DEST


def asked_at(tree: SourceTree) -> str | None:
    """Return where (``path:line``) the reader is asked only if ``--config`` is one of the words.

    None where it isn't. Such a reader overlooks ``--config=FILE`` and abbreviations, which the parser takes.
    """
    for path in tree.walk():
        source = tree.read(path)
        if b"ConfigArgumentMerger(" in source and (found := _ASKED.search(source.decode("utf-8", "replace"))):
            return f"{path}:{found.string.count(chr(10), 0, found.start()) + 1}"
    return None


def reader_of(tree: SourceTree) -> dict[str, str | None]:
    """Return what is told of a tree: its ``rule``, and where it is ``asked``."""
    rule = config_rule(tree)
    return {"rule": rule, "asked": asked_at(tree) if rule != ABSENT else None}


def readers_of(folder: Path) -> dict[str, dict[str, str | None]]:
    """Return version → ``reader_of`` for the release wheels in a folder, oldest first."""
    from packaging.version import Version

    from indexer.source.release import WheelTree

    wheels = {wheel.name.split("-")[1]: wheel for wheel in folder.glob("sglang-*.whl")}
    return {
        version: reader_of(WheelTree(wheels[version], version)) for version in sorted(wheels, key=Version)
    }


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(readers_of(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
