"""The name that was probably meant, and no name where nothing is like it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexer.knowledge.nearest import FIELD_TERMS, nearest, plain
from indexer.source.tree import SourceTree

ALGORITHMS = ["EAGLE", "NEXTN", "EAGLE3", "FROZEN_KV_MTP", "STANDALONE", "NGRAM", "DFLASH"]
FLAGS = [
    "--speculative-num-draft-tokens",
    "--speculative-num-steps",
    "--speculative-draft-model-path",
    "--speculative-algorithm",
    "--max-running-requests",
    "--tp-size",
    "--dp-size",
]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("NEXTM", "NEXTN"),
        ("next-n", "NEXTN"),
        ("MTP", "NEXTN"),
        ("mtp", "NEXTN"),
        ("eagle 3", "EAGLE3"),
        ("n_gram", "NGRAM"),
        ("standalon", "STANDALONE"),
        ("frozen", "FROZEN_KV_MTP"),
    ],
)
def test_an_algorithm_in_other_words(typed: str, meant: str) -> None:
    assert nearest(typed, ALGORITHMS)[0] == meant


def test_another_name_of_the_same_thing_comes_before_one_that_contains_it() -> None:
    assert nearest("MTP", ALGORITHMS) == ["NEXTN", "FROZEN_KV_MTP"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("speculative_num_draft_tokens", "--speculative-num-draft-tokens"),
        ("--num-speculative-tokens", "--speculative-num-draft-tokens"),
        ("--speculative-draft-tokens", "--speculative-num-draft-tokens"),
        ("--speculatve-num-step", "--speculative-num-steps"),
        ("--spec-algo", "--speculative-algorithm"),
        ("--speculative-algorithms", "--speculative-algorithm"),
        ("maxrunningrequests", "--max-running-requests"),
        ("tpsize", "--tp-size"),
    ],
)
def test_a_flag_in_other_words(typed: str, meant: str) -> None:
    assert nearest(typed, FLAGS)[0] == meant


@pytest.mark.parametrize("typed", ["", "--", "nonsense", "zzz", "q", "--enable-unicorns", "x" * 5000])
def test_what_is_like_nothing(typed: str) -> None:
    assert nearest(typed, FLAGS + ALGORITHMS) == []


def test_no_more_than_asked_for_and_none_twice() -> None:
    assert nearest("speculative", FLAGS, 2) == ["--speculative-algorithm", "--speculative-num-steps"]
    assert nearest("tp-size", ["--tp-size", "tp_size", "TP-SIZE"]) == ["--tp-size"]


@pytest.mark.release
@pytest.mark.parametrize("version", ["0.5.23", pytest.param("0.5.9", marks=pytest.mark.slow)])
def test_the_releases_call_one_thing_mtp_and_nextn(
    version: str, release_tree: Callable[[str], SourceTree]
) -> None:
    """A target's own draft class ends in either word, and an algorithm has one of them for its name."""
    from indexer.snapshots import get_snapshot

    release_tree(version)
    snapshot = get_snapshot(version, code_paths=False)
    own = [plain(str(model.draft.get("architecture"))) for model in snapshot.models if model.draft]
    ends = {word: sum(name.endswith(word) for name in own) for word in ("mtp", "nextn")}
    assert all(count >= 4 for count in ends.values()), ends
    assert "NEXTN" in {alias.name for one in snapshot.algorithms for alias in one.aliases}
    assert FIELD_TERMS["mtp"] == ("nextn",)
