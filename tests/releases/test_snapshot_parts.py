"""The parts of a snapshot: each holds what the whole holds, and says what it leaves out."""

from __future__ import annotations

import msgspec
import pytest

from indexer.extract.snapshot import (
    CODE_PATHS,
    add_code_paths,
    extract_flag_snapshot,
    extract_snapshot,
)
from indexer.knowledge.store import encode_snapshot

pytestmark = pytest.mark.release

VERSION = "0.4.6.post5"


def test_parts_compose(release_tree):
    tree = release_tree(VERSION)
    whole = extract_snapshot(tree)
    facts = extract_snapshot(tree, code_paths=False)
    assert facts.left_out == [CODE_PATHS]
    assert facts.rules and not facts.code_paths
    assert "call sites" not in facts.coverage.counts
    assert whole.left_out == []
    assert encode_snapshot(add_code_paths(facts, tree)) == encode_snapshot(whole)


def test_flags_alone_are_the_same_flags(release_tree):
    tree = release_tree(VERSION)
    alone, whole = extract_flag_snapshot(tree), extract_snapshot(tree, code_paths=False)
    without_reads = [msgspec.structs.replace(flag, read_at=[]) for flag in whole.flags]
    assert alone.flags == without_reads
    assert [one.name for one in alone.algorithms] == [one.name for one in whole.algorithms]
    assert "rules" in alone.left_out and not alone.rules
    assert alone.coverage.counts["flags"] == whole.coverage.counts["flags"]
