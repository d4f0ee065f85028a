"""Names of cached things change with everything that decides what they hold."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from indexer import extractor_version as versions
from indexer._resources import data_path

NAMES = {
    "callgraph_version": [
        "queries/attribute_reads.scm",
        "queries/callgraph.scm",
        "syntax/callgraph/edges.py",
    ],
    "compiler_version": ["interpret/rewrite.py"],
    "rule_places_version": ["explain/annotate.py", "knowledge/pairings.py", "extract/rules/files.py"],
    "verdict_version": ["explain/probes.py", "drift/lint/conflicts.py", "extract/encoded.py"],
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the package that the digests are taken of."""
    copy = tmp_path / "indexer"
    shutil.copytree(
        Path(versions.__file__).parent, copy, ignore=shutil.ignore_patterns("data", "__pycache__")
    )
    shutil.copytree(data_path("queries"), copy / "queries")
    monkeypatch.setattr(versions, "_PACKAGE", copy)
    monkeypatch.setattr(versions, "data_path", lambda name: copy / name)
    return copy


def _told(name: str) -> str:
    for digest in (versions.extractor_version, getattr(versions, name)):
        digest.cache_clear()
    return getattr(versions, name)()


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, files in NAMES.items() for file in files])
def test_a_changed_file_gives_another_name(package: Path, name: str, file: str) -> None:
    try:
        before = _told(name)
        with (package / file).open("a") as source:
            source.write("\n# changed\n")
        assert _told(name) != before
    finally:
        versions.extractor_version.cache_clear()
        getattr(versions, name).cache_clear()
