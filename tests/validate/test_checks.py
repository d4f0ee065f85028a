"""Judgements: accept length, parity by the logit gap, prefix reuse, refusals, predictions."""

import copy
from typing import Any

import msgspec

from indexer.validate import checks
from indexer.validate.predict import disagreements
from indexer.validate.records import Prediction
from tests.validate.test_records import RECORDS


def result(accept: float | None = 4.0, verifies: int = 16) -> dict[str, Any]:
    """Return a raw result of a served launch."""
    names = [*checks.PROMPTS, *(name + "_again" for name in checks.PROMPTS[:4])]
    one = {
        "ids": list(range(64)),
        "meta": {"spec_verify_ct": verifies, "cached_tokens": 256},
        "successors": 64,
    }
    return {
        "outcome": "served",
        "requests": {name: copy.deepcopy(one) for name in names},
        "batch": {"equal": [True] * 8},
        "server_info": {"internal_states": [{"avg_spec_accept_length": accept}]},
    }


def baseline(gap: float) -> dict[str, Any]:
    """Return a baseline whose two best tokens are ``gap`` apart at every step."""
    made = result(None, 0)
    made["margins"] = {name: {"ids": list(range(64)), "gaps": [gap] * 64} for name in checks.PROMPTS}
    return made


def test_accept_length() -> None:
    """Dictated lengths are held to; without a verify step nothing was accepted."""
    assert checks.acceptance(result(3.99), True, 4).passed
    assert checks.acceptance(result(3.5), True, 4).passed is False
    assert checks.acceptance(result(4.5), True, 4).passed is False
    assert checks.acceptance(result(1.7), True, None).passed
    assert checks.acceptance(result(None, 0), True, 4).passed is False
    assert checks.acceptance(result(), False, None).passed is None


def test_parity_is_judged_by_the_gap() -> None:
    """One rounding step is noise, more is a finding, and no baseline is no judgement."""
    assert checks.parity(result(), baseline(3.0), "b").passed
    other = result()
    other["requests"]["short"]["ids"][5] = 999
    assert checks.parity(other, baseline(0.5), "b").passed
    wide = checks.parity(other, baseline(3.0), "b")
    assert wide.passed is False and "short parts at a gap of 3.0" in wide.detail
    assert checks.parity(other, None, None).passed is None


def test_gap_after_the_baseline_parted_from_itself_is_unknown() -> None:
    """A gap measured on another way says nothing about this one."""
    measured = baseline(0.1)
    measured["margins"]["short"]["ids"][2] = 777
    other = result()
    other["requests"]["short"]["ids"][5] = 999
    assert checks.parting_gap(other, measured, "short") == "unknown"


def test_grown_prompt_follows_its_stem() -> None:
    """The longer prompt is built from an output: where that differs, it is another prompt."""
    other = result()
    for name in ("rand300", "rand300_more"):
        other["requests"][name]["ids"][1] = 999
    assert checks.parting_gap(other, baseline(0.0), "rand300_more") == "unknown"


def test_prefix_reuse() -> None:
    """A hit is wanted where the cache is on, and none where it is off."""
    assert checks.prefix_reuse(result(), False).passed
    assert checks.prefix_reuse(result(), True).passed is False


def test_refusals() -> None:
    """The documented message must come."""
    assert checks.refusal("ValueError: topk must be 1.", "topk must be 1.", "f:1").passed
    assert checks.refusal("ValueError: other", "topk must be 1.", "f:1").passed is False
    assert checks.refusal("AssertionError", "", "f:1").passed


def test_disagreements_are_found() -> None:
    """A wrong outcome, message or value is told; a later death is none."""
    served = next(r for r in RECORDS if r.outcome == "served" and r.asked.get("page_size") == 64)
    info = dict(served.resolved)
    assert disagreements(Prediction("static", False), served, info)[0] == []
    assert disagreements(Prediction("static", True, "no"), served, info)[0]
    wrong = Prediction("static", False, resolved={"page_size": 1})
    assert disagreements(wrong, served, info)[0] == ["page_size: 1 expected, 64 for real"]
    refused = next(r for r in RECORDS if r.outcome == "refused" and r.error and len(r.error) > 60)
    assert disagreements(Prediction("static", True, "another thing"), refused, None)[0]
    died = msgspec.structs.replace(served, outcome="failed")
    assert disagreements(Prediction("static", False), died, None)[0] == []
