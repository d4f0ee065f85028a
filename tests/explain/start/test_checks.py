"""What a starting server would refuse though the arguments are accepted."""

from __future__ import annotations

import pytest

from indexer.explain.explain import Explainer
from indexer.explain.launches import Question
from indexer.explain.resolve import Also

pytestmark = [pytest.mark.oracle, pytest.mark.release]
ARGV = ["--tp-size", "4", "--speculative-algorithm", "NEXTN"]
ENV = {"SGLANG_DISABLE_CUDNN_CHECK": "1"}
"""Which cuDNN a launch finds is not known; up to 0.5.9 that alone may refuse it."""


@pytest.mark.parametrize(
    ("version", "model", "gpu", "more", "line", "said"),
    [
        ("0.5.9", "qwen3_5-moe", "RTX PRO 6000", "", 205, "backends"),
        ("0.5.9", "qwen3_5-moe", "RTX PRO 6000", "--attention-backend triton", None, ""),
        ("0.5.9", "qwen3_5-moe", "H200", "--attention-backend fa3", None, ""),
        ("0.5.17", "qwen3_5-moe", "RTX PRO 6000", "--attention-backend fa3", 214, "SM"),
        ("0.5.17", "qwen3_5-moe", "RTX PRO 6000", "--attention-backend flashinfer", None, ""),
        # refused by what the backend's constructor makes
        ("0.5.23", "qwen3_5-moe", "RTX PRO 6000", "--linear-attn-decode-backend helion", 292, "not GDN"),
        ("0.5.23", "qwen3_5-moe", "RTX PRO 6000", "--linear-attn-backend nvidia_kda", 296, "NVIDIA_KDA"),
        ("0.5.23", "qwen3_5-moe", "RTX PRO 6000", "--linear-attn-decode-backend triton", None, ""),
    ],
)
def test_the_backend_that_a_starting_server_refuses(
    version, model, gpu, more, line, said, shared, release_tree
) -> None:
    folder = str(shared / "oracle" / "models" / model)
    question = Question([*ARGV, *more.split()], folder, None, ENV, gpu, 4)
    watched = Explainer(release_tree(version)).watch(question, Also(start=True))
    assert watched.answer.outcome == "starts"
    refused = [check.refusals[0] for check in watched.start if check.refused]
    assert [one.at.line for one in refused][:1] == ([line] if line else [])
    assert all(said in one.message for one in refused[:1])
    if line is None:
        assert all(check.passed for check in watched.start), watched.start


def test_what_only_the_running_server_has_refuses_nothing(shared, release_tree) -> None:
    """Without a model's file the shape of its state is not known: the check of it is no refusal."""
    question = Question(ARGV, None, "Qwen3_5MoeForConditionalGeneration", {}, "H200", 4)
    watched = Explainer(release_tree("0.5.17")).watch(question, Also(start=True))
    assert watched.start and not any(check.refused for check in watched.start)
