"""Names of cached things change with everything that decides what they hold."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from indexer import extractor_version as versions
from indexer._resources import data_path
from indexer.extract.env_vars import ENV_USES
from indexer.extract.reads import FLAG_USES
from indexer.extract.replacements import REPLACEMENT_MESSAGES
from indexer.extract.rules import RULE_FACTS
from indexer.syntax.callgraph.attribute_reads import ATTRIBUTE_READS
from indexer.syntax.callgraph.facts import CALL_FACTS
from indexer.syntax.facts import Extractor
from indexer.syntax.graph import OUTLINE

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


@pytest.mark.parametrize(
    ("one", "file"),
    [
        (OUTLINE, "syntax/outline.py"),
        (FLAG_USES, "extract/reads/uses.py"),
        (FLAG_USES, "syntax/anchors.py"),
        (ENV_USES, "extract/env_vars/uses.py"),
        (REPLACEMENT_MESSAGES, "extract/replacements.py"),
        (RULE_FACTS, "extract/rules/flow.py"),
        (RULE_FACTS, "queries/rule_raise.scm"),
        (CALL_FACTS, "syntax/callgraph/facts.py"),
        (CALL_FACTS, "queries/callgraph.scm"),
        (ATTRIBUTE_READS, "syntax/callgraph/facts.py"),
        (ATTRIBUTE_READS, "queries/attribute_reads.scm"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_facts_of_a_file_are_read_again_when_what_decides_them_changed(
    package: Path, one: Extractor, file: str
) -> None:
    def told() -> str:
        versions.file_facts_version.cache_clear()
        return dataclasses.replace(one).key  # a copy has not worked out its key

    try:
        before = told()
        with (package / file).open("a") as source:
            source.write("\n# changed\n" if file.endswith(".py") else "\n; changed\n")
        assert told() != before
    finally:
        versions.file_facts_version.cache_clear()


@pytest.mark.parametrize("one", [OUTLINE, FLAG_USES, ENV_USES, REPLACEMENT_MESSAGES, RULE_FACTS, CALL_FACTS])
def test_everything_that_decides_the_facts_of_a_file_is_there(package: Path, one: Extractor) -> None:
    for name in (one.run.__module__, *one.decided_by):
        file = name if name.endswith(".scm") else "/".join(name.split(".")[1:]) + ".py"
        assert (package / file).is_file()


@pytest.mark.parametrize("one", [OUTLINE, FLAG_USES, ENV_USES, REPLACEMENT_MESSAGES, RULE_FACTS, CALL_FACTS])
def test_what_the_readers_of_a_file_import_decides_its_facts(one: Extractor) -> None:
    modules = [one.run.__module__, *(name for name in one.decided_by if not name.endswith(".scm"))]
    gathering = {"indexer.extract.file_facts"}  # which files, not what is in them
    for name in modules:
        source = Path(versions.__file__).parent.joinpath(*name.split(".")[1:]).with_suffix(".py").read_text()
        imported = set(
            re.findall(r"^from (indexer\.(?:extract|syntax\.callgraph)[\w.]*) import", source, re.M)
        )
        assert imported - gathering <= set(modules)
