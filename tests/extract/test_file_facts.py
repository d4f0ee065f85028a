"""Facts of single files, with and without an index of the modules, and kept from tree to tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.extract.env_vars import ENV_USES
from indexer.extract.file_facts import facts_alone, load_facts
from indexer.extract.replacements import REPLACEMENT_MESSAGES
from indexer.syntax import facts as syntax_facts
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

FILES = {
    "python/sglang/srt/one.py": 'import os\nSLOW = os.environ.get("TINY_SLOW", "0")\n',
    "python/sglang/srt/two.py": 'WORDS = "--old is deprecated, use --new instead"\n',
    "python/sglang/srt/three.py": "class Plain:\n    pass\n",
    "python/sglang/launch.py": 'import os\nos.getenv("TINY_LAUNCH")\n',
    "python/sglang/test/many.py": 'import os\nos.getenv("TINY_TEST")\n',
}
WANTED = (ENV_USES, REPLACEMENT_MESSAGES)


def test_they_are_the_same_without_an_index(tmp_path: Path) -> None:
    alone = facts_alone(MemoryTree(FILES), WANTED, (ENV_USES,), FactStore(tmp_path))
    assert alone == load_facts(ModuleGraph(MemoryTree(FILES)), WANTED, (ENV_USES,))
    assert "python/sglang/test/many.py" not in alone


def test_the_next_release_reads_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = facts_alone(MemoryTree(FILES), WANTED, (ENV_USES,), FactStore(tmp_path))
    read: list[str] = []
    extract = syntax_facts.extract_file

    def noted(path: str, *rest: object) -> dict[str, bytes]:
        read.append(path)
        return extract(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(syntax_facts, "extract_file", noted)
    changed = "python/sglang/srt/one.py"
    newer = MemoryTree(FILES | {changed: FILES[changed].replace("SLOW", "FAST")})
    second = facts_alone(newer, WANTED, (ENV_USES,), FactStore(tmp_path))
    assert read == [changed]
    assert {path for path in first if first[path] != second[path]} == {changed}
