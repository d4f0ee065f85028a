"""Names as people type them, and what is said when there is none."""

from __future__ import annotations

import re

import msgspec
import pytest

from indexer.errors import UsageError
from indexer.knowledge import history
from indexer.knowledge.lookup import find_facts
from indexer.knowledge.records import fact_record
from tests.small_site import small_snapshot


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("flag", "speculative-draft-steps", "flag:speculative-draft-steps"),
        ("flag", "--speculative_draft_steps", "flag:speculative-draft-steps"),
        ("flag", "--steps", "flag:speculative-draft-steps"),
        ("flag", "draft_steps", "flag:speculative-draft-steps"),
        ("flag", "flag:speculative-draft-steps@1.0", "flag:speculative-draft-steps"),
        ("flag", "--speculative-d", "flag:speculative-draft-steps"),
        ("algorithm", "fast", "algorithm:FAST"),
        ("algorithm", "QUICK", "algorithm:FAST"),
        ("model", "tinyforcausallm", "model:TinyForCausalLM"),
        ("rule", "steps-needed", "rule:steps-needed"),
        ("rule", "rule:steps-needed", "rule:steps-needed"),
        ("path", "decode", "path:decode"),
        ("env", "TINY_DEBUG", "env:TINY_DEBUG"),
    ],
)
def test_every_spelling_finds_its_fact(kind: str, name: str, found: str) -> None:
    facts = find_facts(small_snapshot(), kind, name)
    assert [fact_record("1.0", kind, fact)["id"] for fact in facts] == [found]


def test_an_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean speculative-draft-steps"):
        find_facts(small_snapshot(), "flag", "speculative-draft-step-count")


def test_an_ambiguous_abbreviation_is_no_name() -> None:
    snapshot = small_snapshot()
    snapshot.flags[1].option_strings = ["--speculative-draft-old"]
    with pytest.raises(UsageError, match="has no flag"):
        find_facts(snapshot, "flag", "speculative-dr")


def test_a_flag_record_has_argparse_keys_and_says_unknown() -> None:
    record = fact_record("1.0", "flag", small_snapshot().flags[2])
    assert record["default"]["unknown"] == "depends on the machine"
    assert record["default"]["at"]["line"] == 4
    assert record["choices"] == ["triton", "other"]
    keys = "option_strings dest action nargs const default type choices required metavar help choices_at"
    more = "declared_at registered_at namespace deprecated fallback"
    assert set(f"{keys} {more}".split()) <= set(record)
    assert record["url"] == "/1.0/flags/backend.html"


def test_without_a_history_the_nearest_names_are_still_told(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(history, "SHIPPED", tmp_path / "none.json")
    with pytest.raises(UsageError, match="did you mean speculative-draft-steps"):
        find_facts(small_snapshot(), "flag", "speculative-draft-step-count")


def test_a_checkpoint_s_name_suggests_the_class_that_shares_most_of_it() -> None:
    snapshot = small_snapshot()
    for name in ("TinyModel", "Tiny3_5ForCausalLM", "Tiny3NextForCausalLM", "OtherNextForCausalLM"):
        snapshot.models.append(msgspec.structs.replace(snapshot.models[0], architecture=name))
    with pytest.raises(UsageError, match=r"\(perhaps Tiny3NextForCausalLM, Tiny3_5ForCausalLM\)"):
        find_facts(snapshot, "model", "org/Tiny3-Next-80B")


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("flag", "speculative draft steps", "flag:speculative-draft-steps"),
        ("flag", "--speculative-draft-steps=3", "flag:speculative-draft-steps"),
        ("flag", "--speculative-draft-steps 3", "flag:speculative-draft-steps"),
        ("flag", "SpeculativeDraftSteps", "flag:speculative-draft-steps"),
        ("algorithm", "f-a-s-t", "algorithm:FAST"),
        ("model", "Tiny_For_Causal_LM", "model:TinyForCausalLM"),
        ("env", "$TINY_DEBUG", "env:TINY_DEBUG"),
        ("env", "${TINY_DEBUG}", "env:TINY_DEBUG"),
        ("env", "TINY_DEBUG=1", "env:TINY_DEBUG"),
    ],
)
def test_as_pasted_from_a_command_or_cut_differently(kind: str, name: str, found: str) -> None:
    facts = find_facts(small_snapshot(), kind, name)
    assert [fact_record("1.0", kind, fact)["id"] for fact in facts] == [found]


def test_a_rule_by_its_place() -> None:
    snapshot = small_snapshot()
    rule = next(one for one in snapshot.rules if one.id.endswith("steps-needed"))
    name = f"{rule.at.path.rpartition('/')[2]}:{rule.at.line}"
    assert rule in find_facts(snapshot, "rule", name)
    with pytest.raises(UsageError, match="none is like it"):
        find_facts(snapshot, "rule", "server_args.py:99999")


def test_a_rule_by_its_misspelled_function() -> None:
    snapshot = small_snapshot()
    named = [msgspec.structs.replace(one, id=f"check_numbers-error-{one.id}") for one in snapshot.rules]
    with pytest.raises(UsageError, match=r"did you mean check_numbers-error-\w+"):
        find_facts(msgspec.structs.replace(snapshot, rules=named), "rule", "chek_numbers")


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("flag", "algorithm:FAST", "it names another kind: indexer show algorithm FAST"),
        ("env", "spec_v2", "did you mean SGLANG_ENABLE_SPEC_V2"),
        ("env", "nothing-like-it", "has no environment variable"),
        ("model", "gdn", "a state of hybrid models, of TinyForCausalLM"),
        ("rule", "some words", "indexer search 'some words'"),
    ],
)
def test_what_is_said_of_a_name_that_is_none(kind: str, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        find_facts(small_snapshot(), kind, name)
