"""Side-by-side timings of one run: our commands as whole processes, beside ctags and a plain ``ast`` walk.

    python benchmarks/timings.py [VERSION] [--quick]

Every figure is the best of three runs in seconds (the long ones run once), with its ratio to the plain
``ast`` walk of the same run, so that figures of two machines can be compared. *Cold* means a cache that holds
the downloads and nothing else. ctags is left out where it is not installed; ``--quick`` leaves out what takes
longer than a second or two. Run it on an idle machine.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.snapshots import default_version, get_snapshot
from indexer.source import open_source
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.callgraph.load import callgraph_paths
from indexer.syntax.parse import parse
from indexer.workers import cores

_RUNS = 3
_DOWNLOADS = ("wheels", "transformers")
_LAUNCH = (
    "python -m sglang.launch_server --model-path m --tp 4 --speculative-algorithm NEXTN "
    "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
)
_CODE = """
from indexer.source import open_source
from indexer.source.cache import cache_folder
from indexer.syntax.factstore import FactStore
tree, store = open_source({version!r}), FactStore(cache_folder("facts"))
"""
_READ = """
from indexer.extract.ahead import read_files
read_files(tree, store, code_paths=False)
"""
_GRAPH = """
from indexer.syntax.callgraph.survey import survey
survey(tree, store)
"""


class Table:
    """Rows printed as they are measured; the first row is what the others are compared with."""

    def __init__(self) -> None:
        self.base: float | None = None

    def row(self, label: str, action: Callable[[], object], runs: int = _RUNS) -> None:
        """Measure and print one row."""
        taken = []
        for _ in range(runs):
            started = time.perf_counter()
            action()
            taken.append(time.perf_counter() - started)
        best = min(taken)
        self.base = self.base or best
        print(f"{label:<58} {best:7.2f} s {best / self.base:7.2f}", flush=True)


def main() -> None:
    """Print the table."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    version = named[0] if named else default_version()
    tree = open_source(version)
    get_snapshot(version)
    print(f"SGLang {version}, {len(tree.paths())} files, {cores()} cores")
    table = Table()
    table.row("ast walk, add_argument calls and annotated fields only", lambda: _ast_flags(tree))
    table.row("tree-sitter alone, the call graph's files, one core", lambda: _parse_only(tree), 1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if shutil.which("ctags"):
            unpacked = str(_unpack(tree, folder / "tree"))
            command = ["ctags", "-R", "--languages=Python", "-f", "-", unpacked]
            table.row("universal-ctags, definitions of the whole package", lambda: _run(command))
        _processes(table, folder)
        if "--quick" not in sys.argv:
            _readings(table, version, folder)


def _processes(table: Table, folder: Path) -> None:
    """Commands that people wait for, each a whole process with what it needs in the cache."""
    launch = folder / "launch.sh"
    launch.write_text(f"{_LAUNCH}\n")
    table.row(
        "indexer show flag speculative-algorithm", lambda: _indexer("show", "flag", "speculative-algorithm")
    )
    table.row("indexer search 'num draft tokens'", lambda: _indexer("search", "num draft tokens"))
    table.row("indexer history speculative-eagle-topk", lambda: _indexer("history", "speculative-eagle-topk"))
    table.row("indexer drift 0.5.17 0.5.23", lambda: _indexer("drift", "0.5.17", "0.5.23"))
    table.row("indexer check, one file", lambda: _indexer("check", "--version", "0.5.23", str(launch)))
    many = folder / "many"
    many.mkdir()
    for number in range(1000):
        (many / f"{number}.sh").write_text(f"{_LAUNCH} --port {number + 1024}\n")
    table.row("indexer check, 1,000 files", lambda: _indexer("check", "--version", "0.5.23", str(many)))
    explain = ["--arch", "Qwen3ForCausalLM", "--gpu", "H200", "--gpus", "4", "--", *_LAUNCH.split()]
    table.row("indexer explain, one version", lambda: _indexer("explain", "--version", "0.5.23", *explain))
    every = ["explain", "--versions", "0.5.0..0.5.23", *explain]
    table.row("indexer explain, every release since 0.5.0", lambda: _indexer(*every), 1)


def _readings(table: Table, version: str, folder: Path) -> None:
    """Reading a release, cold and warm."""
    code = _CODE.format(version=version)
    out = ["-o", str(folder / "snapshot.json")]
    for part in ("flags", "facts", "all"):
        with _cold():
            command = ["snapshot", version, "--part", part, *out]
            table.row(f"indexer snapshot --part {part}, cold", lambda command=command: _indexer(*command), 1)  # type: ignore[misc]
    table.row("indexer snapshot, warm", lambda: _indexer("snapshot", version, *out))
    with _cold():
        table.row("reading the srt tree, cold", lambda: _python(code + _READ), 1)
        table.row("reading the srt tree, warm", lambda: _python(code + _READ))
    with _cold():
        table.row("call graph with every call site resolved, cold", lambda: _python(code + _GRAPH), 1)
        table.row("call graph, warm", lambda: _python(code + _GRAPH))
    with _cold():
        table.row("indexer build, cold", lambda: _indexer("build", "--output", str(folder / "site")), 1)
        table.row("indexer build, warm", lambda: _indexer("build", "--output", str(folder / "site")), 1)


@contextmanager
def _cold() -> Iterator[None]:
    """Run the block with a cache that holds the downloads only."""
    with tempfile.TemporaryDirectory() as cache:
        for name in _DOWNLOADS:
            (Path(cache) / name).symlink_to(cache_folder(name), target_is_directory=True)
        before = os.environ.get("SGLANG_INDEXER_CACHE")
        os.environ["SGLANG_INDEXER_CACHE"] = cache
        try:
            yield
        finally:
            os.environ.pop("SGLANG_INDEXER_CACHE")
            if before is not None:
                os.environ["SGLANG_INDEXER_CACHE"] = before


def _indexer(*arguments: str) -> None:
    finished = subprocess.run([sys.executable, "-m", "indexer", *arguments], capture_output=True)
    if finished.returncode > 1:  # 1: findings, which is an answer
        raise SystemExit(f"indexer {' '.join(arguments)}: {finished.stderr.decode()}")


def _python(code: str) -> None:
    _run([sys.executable, "-c", code])


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _parse_only(tree: SourceTree) -> None:
    """What no reading of the server's code with tree-sitter can be faster than."""
    for path in callgraph_paths(tree):
        parse(tree.read(path))


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
