"""Sizing of the recurrent state by the releases' own functions, against numbers worked out by hand.

The model: 6 linear layers, 8 key and 16 value heads of 128, window 4; four GPUs, so that a slot is
6 × (1024 × 3 × 2 + 4 × 128 × 128 × 4) bytes.
"""

from __future__ import annotations

import pytest

from indexer.explain.launches import Question
from indexer.explain.start import state_memory

pytestmark = [pytest.mark.oracle, pytest.mark.release]

SLOT = 6 * (1024 * 3 * 2 + 4 * 128 * 128 * 4)
GIB = 1 << 30
ARGV = ["--tp-size", "4", "--speculative-algorithm", "NEXTN"]


def _question(shared, gpu="H200", *more) -> Question:
    return Question([*ARGV, *more], str(shared / "oracle" / "models" / "qwen3_5-moe"), None, {}, gpu, 4)


@pytest.mark.parametrize(
    ("version", "places"),
    [
        ("0.5.17", {"slots per request": 1659, "slots that fit": 1816}),
        pytest.param("0.5.23", {"slots per request": 3062, "slots that fit": 3229}, marks=pytest.mark.slow),
    ],
)
def test_slots_scratch_and_concurrency(version, places, shared, release_tree) -> None:
    memory = state_memory(release_tree(version), _question(shared), weights_gib=100.0)
    assert (memory.slot_bytes, memory.slots_per_request, memory.draft_tokens) == (SLOT, 5, 4)
    assert (memory.conv, memory.temporal, memory.layers) == ([[1024, 3]], [4, 128, 128], 6)
    (sized,) = memory.sized
    # K = (budget - slot * (1 + D)) // (slot * (1 + D / ratio)), budget = rest * r / (1 + r)
    budget = sized.rest_gib * 0.9 / 1.9 * GIB
    assert sized.slots == int((budget - SLOT * 5) // (SLOT * (1 + 4 / 5)))
    assert sized.requests == min(48, sized.slots // 5)
    assert sized.beside_bytes == SLOT * ((48 + 1) * 4 + 1), "a state per draft token, and padding"
    assert memory.one_more.beside_bytes - sized.beside_bytes == SLOT * 49
    assert {what: memory.places[what].line for what in places} == places
    assert memory.places["bytes of a slot"].line == 116


def test_a_release_without_a_function_for_the_ratio(shared, release_tree) -> None:
    """0.5.9 switches the radix cache off for this model: one slot a request."""
    memory = state_memory(release_tree("0.5.9"), _question(shared), weights_gib=100.0)
    assert (memory.slots_per_request, memory.sized[0].slots) == (1, 48)
    assert memory.sized[0].beside_bytes == SLOT * 48 * 4
    assert memory.places["slots per request"].line == 355


def test_too_little_memory_is_the_release_own_refusal(shared, release_tree) -> None:
    question = _question(shared, "H200", "--mem-fraction-static", "0.5")
    memory = state_memory(release_tree("0.5.17"), question, weights_gib=69.9)
    assert memory.sized[0].refusal.startswith("RuntimeError: Not enough GPU memory for hybrid")


def test_a_refused_launch_has_no_numbers(shared, release_tree) -> None:
    memory = state_memory(release_tree("0.5.12"), _question(shared))
    assert memory.slot_bytes is None
    assert "is not compatible with radix cache" in memory.unknown[0]


def test_a_model_without_recurrent_state_has_none(shared, release_tree) -> None:
    model = str(shared / "oracle" / "models" / "llama-small")
    assert state_memory(release_tree("0.5.17"), Question([], model, None, {}, "H200", 1)) is None
