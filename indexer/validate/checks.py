"""Judge a launch by its effect: what it generated, accepted, reused and resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.validate.records import Check

ROUNDING_GAP = 0.51
"""Largest gap between the two best bfloat16 logits that one rounding step explains (at logits of
64 and above neighbouring values are 0.5 apart)."""
PROMPTS = ("short", "walk30", "rand300", "mix70", "rand300_more")
NEW_TOKENS = 64


def served(result: Mapping[str, Any]) -> Check:
    """The server became healthy and answered every request."""
    if result["outcome"] == "served":
        return Check("healthy", True)
    why = result["log"]["error"] or result.get("broke") or "no reason in the log"
    return Check("healthy", False, f"{result['outcome']}: {why}"[:400])


def stopped_clean(result: Mapping[str, Any]) -> Check:
    """Nothing of the server outlived it."""
    left = result.get("left")
    if left is None:
        return Check("no process left", None, "not counted")
    return Check("no process left", left == 0, f"{left} left")


def walk(result: Mapping[str, Any], walks: bool) -> Check:
    """A successor model's greedy output is the known walk."""
    if not walks:
        return Check("known walk", None, "the model's output is not known beforehand")
    steps = [result["requests"][name]["successors"] for name in PROMPTS[:4]]
    return Check("known walk", sum(steps) == 4 * NEW_TOKENS, f"{sum(steps)} of {4 * NEW_TOKENS} steps")


def acceptance(result: Mapping[str, Any], speculative: bool, dictated: int | None) -> Check:
    """Verification happened, and accepted what the models dictate (where they dictate it)."""
    if not speculative:
        return Check("accept length", None, "no speculation")
    length = accept_length(result)
    verifies = sum(r["meta"].get("spec_verify_ct") or 0 for r in result["requests"].values())
    if length is None or not verifies:
        return Check(
            "accept length", None if dictated is None else False, "the server reports no verify step"
        )
    detail = f"{length:.2f} tokens a verify step in {verifies} steps"
    if dictated is None:
        return Check("accept length", length >= 1.0, detail)
    # Requests end in the middle of a step, hence a little below the full chain.
    return Check("accept length", 0.97 * dictated <= length <= dictated, f"{detail}; {dictated} dictated")


def accept_length(result: Mapping[str, Any]) -> float | None:
    """Return the server's own average of tokens accepted a verify step, bonus token included."""
    states = (result.get("server_info") or {}).get("internal_states") or [{}]
    length = states[0].get("avg_spec_accept_length")
    return length if isinstance(length, (int, float)) else None


def parity(result: Mapping[str, Any], baseline: Mapping[str, Any] | None, name: str | None) -> Check:
    """Greedy output equals the baseline's, or parts from it where one rounding step decides."""
    if baseline is None or not baseline.get("margins"):
        return Check("greedy parity", None, "no baseline of this model and backend on this machine")
    verdicts, wrong = [], []
    for prompt in PROMPTS:
        gap = parting_gap(result, baseline, prompt)
        if gap is None:
            verdicts.append("equal")
        elif isinstance(gap, str):
            verdicts.append("unknown")
        else:
            verdicts.append(f"{prompt} parts at a gap of {gap}")
            if gap > ROUNDING_GAP:
                wrong.append(prompt)
    judged = [verdict for verdict in verdicts if verdict != "unknown"]
    told = "; ".join(verdict for verdict in judged if verdict != "equal")
    detail = f"{verdicts.count('equal')} of {len(PROMPTS)} equal to {name}" + (f"; {told}" if told else "")
    if wrong:
        return Check("greedy parity", False, detail)
    return Check("greedy parity", True if judged else None, detail)


def parting_gap(result: Mapping[str, Any], baseline: Mapping[str, Any], prompt: str) -> float | str | None:
    """Return the baseline's gap between its two best tokens where the outputs part.

    None: they are equal. ``unknown``: the baseline's own run with gaps went another way before, or
    the prompts themselves differ (the last prompt is built from an earlier output).
    """
    ours, theirs = result["requests"][prompt]["ids"], baseline["requests"][prompt]["ids"]
    if ours == theirs:
        return None
    if prompt.endswith("_more") and parting_gap(result, baseline, "rand300") is not None:
        return "unknown"
    at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    measured = baseline["margins"].get(prompt, {})
    if measured.get("ids", [])[: at + 1] != theirs[: at + 1] or at >= len(measured.get("gaps", [])):
        return "unknown"
    return float(measured["gaps"][at])


def noise(result: Mapping[str, Any]) -> Check:
    """How often this server's own repetitions agree: the yardstick for every other comparison."""
    requests = result["requests"]
    same = [requests[name]["ids"] == requests[name + "_again"]["ids"] for name in PROMPTS[:4]]
    batch = result["batch"]["equal"]
    return Check(
        "repeats itself", None, f"{sum(same)} of 4 repeated, {sum(batch)} of {len(batch)} in a batch"
    )


def prefix_reuse(result: Mapping[str, Any], asked_off: bool) -> Check:
    """A repeated prompt is taken from the radix cache (or is not, where the cache is off)."""
    cached = result["requests"]["rand300_again"]["meta"].get("cached_tokens") or 0
    detail = f"{cached} of 300 prompt tokens reused"
    if asked_off:
        return Check("prefix cache", cached == 0, detail + "; the cache is off")
    return Check("prefix cache", True if cached else None, detail)


def refusal(error: str | None, predicted: str | None, where: str | None) -> Check:
    """The documented message came."""
    if predicted is None:
        return Check("documented refusal", None, "no tier predicted a message")
    said = " ".join((error or "").split())
    wanted = " ".join(predicted.split())
    passed = wanted[:160] in said or (not wanted and error is not None)
    return Check(
        "documented refusal", passed, f"{error} ({where})" if passed else f"expected: {predicted[:200]}"
    )


def as_predicted(tier: str, wrong: list[str], judged: int) -> Check:
    """Every asked flag's resolved value, and the outcome, are what a tier said beforehand."""
    name = f"as predicted ({tier})"
    return Check(name, not wrong, "; ".join(wrong) if wrong else f"outcome and {judged} values")
