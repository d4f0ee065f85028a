"""Side-by-side timings: our commands as whole processes, beside universal-ctags and a plain ``ast`` walk.

    python benchmarks/timings.py [VERSION]

Every figure is the best of three runs in seconds; ctags is left out where it is not installed.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from indexer.snapshots import cached_path, default_version
from indexer.source import open_source
from indexer.source.tree import SourceTree

_RUNS = 3


def main() -> None:
    """Print the table."""
    version = sys.argv[1] if len(sys.argv) > 1 else default_version()
    indexer = [sys.executable, "-m", "indexer"]
    tree = open_source(version)
    with tempfile.TemporaryDirectory() as scratch:
        out = ["-o", str(Path(scratch) / "snapshot.json")]
        rows: list[tuple[str, Callable[[], object], int]] = [
            ("indexer snapshot, cold", lambda: _run([*indexer, "snapshot", version, "--fresh", *out]), 1),
            ("indexer snapshot, warm", lambda: _run([*indexer, "snapshot", version, *out]), _RUNS),
            ("indexer show flag", lambda: _run([*indexer, "show", "flag", "speculative-algorithm"]), _RUNS),
            ("indexer search", lambda: _run([*indexer, "search", "num draft tokens"]), _RUNS),
            ("ast walk, add_argument calls only", lambda: _ast_flags(tree), _RUNS),
        ]
        if shutil.which("ctags"):
            unpacked = _unpack(tree, Path(scratch) / "tree")
            command = ["ctags", "-R", "--languages=Python", "-f", "-", str(unpacked)]
            rows.append(("universal-ctags over the tree", lambda: _run(command), _RUNS))
        print(
            f"SGLang {version}, {len(tree.paths())} files; snapshot cache {cached_path(version).parent.name}/"
        )
        for label, action, runs in rows:
            print(f"{label:<36} {_best(action, runs):7.2f} s")


def _best(action: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return min(taken)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _ast_flags(tree: SourceTree) -> int:
    """Count ``add_argument`` calls and annotated fields of the argument code, as a naive reader would."""
    found = 0
    for path in tree.walk("python/sglang/srt"):
        if "arg" not in path:
            continue
        for node in ast.walk(ast.parse(tree.read(path))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            found += isinstance(node, ast.AnnAssign) or (is_call and node.func.attr == "add_argument")
    return found


def _unpack(tree: SourceTree, folder: Path) -> Path:
    for path in tree.paths():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(tree.read(path))
    return folder


if __name__ == "__main__":
    main()
