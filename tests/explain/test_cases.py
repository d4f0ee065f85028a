"""Real questions whose answer argument resolution decides (``../shared/cases``, kinds b and d)."""

from __future__ import annotations

import pytest

from indexer.explain.explain import Explainer
from indexer.explain.explanation import REFUSED, STARTS, Explanation
from indexer.explain.launches import Question

pytestmark = [pytest.mark.oracle, pytest.mark.release]

SPEC = "speculative_hook.py"


@pytest.fixture(scope="module")
def ask(shared, release_tree):
    explainers: dict[str, Explainer] = {}

    def explain(version: str, model: str, *argv: str, gpu: str = "H200") -> Explanation:
        explainer = explainers.setdefault(version, Explainer(release_tree(version)))
        models = shared / "oracle" / "models"
        words = [word.replace("{M}", str(models)) for word in argv]
        return explainer.explain(Question(words, model=str(models / model), gpu=gpu, gpus=8))

    return explain


EAGLE = ("--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "{M}/llama-eagle")
NEXTN = ("--speculative-algorithm", "NEXTN")

REFUSALS = {
    # case: version, model, arguments, exception, in the message, file, first and last line
    "b07 no top-k": (
        "0.5.23",
        "llama",
        (*EAGLE, "--speculative-num-steps", "3"),
        "TypeError",
        "NoneType",
        SPEC,
        1159,
        1290,
    ),
    "b10 underscore": (
        "0.5.23",
        "llama",
        ("--reasoning_parser", "qwen3"),
        "SystemExit",
        "reasoning_parser",
        "",
        0,
        0,
    ),
    "b14 pipeline parallel": (
        "0.5.23",
        "qwen3-next",
        (*NEXTN, "--pp-size", "2"),
        "AssertionError",
        "prefill",
        "validation_hook.py",
        118,
        164,
    ),
    "b18 triton_attn": (
        "0.5.23",
        "llama",
        ("--mm-attention-backend", "triton"),
        "SystemExit",
        "triton_attn",
        "",
        0,
        0,
    ),
    "b19 draft tokens alone": (
        "0.5.23",
        "llama",
        (*EAGLE, "--speculative-num-draft-tokens", "4"),
        "AssertionError",
        "",
        SPEC,
        1159,
        1163,
    ),
    "b20 no mamba state": (
        "0.5.23",
        "llama",
        ("--mamba-radix-cache-strategy", "extra_buffer"),
        "ValueError",
        "needs mamba state",
        "model_hook.py",
        1058,
        1066,
    ),
    "b21 medusa, a list of choices": (
        "0.5.9",
        "llama",
        ("--speculative-algorithm", "MEDUSA"),
        "SystemExit",
        "invalid choice: 'MEDUSA'",
        "",
        0,
        0,
    ),
    "b21 medusa, checked later": (
        "0.5.23",
        "llama",
        ("--speculative-algorithm", "MEDUSA"),
        "ValueError",
        "Unknown speculative algorithm name",
        "spec_info.py",
        65,
        65,
    ),
    "b23 ambiguous": (
        "0.5.23",
        "llama",
        ("--speculative-draft", "x"),
        "SystemExit",
        "ambiguous option: --speculative-draft",
        "",
        0,
        0,
    ),
    "d07 refused in between": (
        "0.5.12",
        "qwen3-next",
        NEXTN,
        "ValueError",
        "radix",
        "server_args.py",
        1,
        9999,
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_as_the_case_tells(case, ask):
    version, model, argv, exception, said, file, first, last = REFUSALS[case]
    answer = ask(version, model, *argv)
    assert answer.outcome == REFUSED, answer.unknowns
    refusal = answer.refusal
    assert refusal is not None and refusal.exception == exception
    assert said in refusal.message
    if file:
        assert refusal.at is not None and refusal.at.path.endswith(file)
        assert first <= refusal.at.line <= last


CHANGES = {
    # case: version, model, arguments, field, value, file, first and last line of who wrote it
    "d02 forty-eight": (
        "0.5.23",
        "qwen3-next",
        NEXTN,
        "max_running_requests",
        48,
        SPEC,
        1086,
        1095,
    ),
    "d02 forty-eight with NGRAM": (
        "0.5.23",
        "llama",
        ("--speculative-algorithm", "NGRAM"),
        "max_running_requests",
        48,
        SPEC,
        1295,
        1300,
    ),
    "d07 radix cache off": (
        "0.5.9",
        "qwen3-next",
        NEXTN,
        "disable_radix_cache",
        True,
        "server_args.py",
        1755,
        1766,
    ),
    "d12 draft tokens follow the steps": (
        "0.5.23",
        "llama",
        (
            *EAGLE,
            "--speculative-num-steps",
            "1",
            "--speculative-eagle-topk",
            "1",
            "--speculative-num-draft-tokens",
            "3",
        ),
        "speculative_num_draft_tokens",
        2,
        SPEC,
        1255,
        1266,
    ),
    "d08 mixed chunk off with NGRAM": (
        "0.5.23",
        "llama",
        ("--speculative-algorithm", "NGRAM", "--enable-mixed-chunk"),
        "enable_mixed_chunk",
        False,
        SPEC,
        1300,
        1312,
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_changed_as_the_case_tells(case, ask):
    version, model, argv, field, value, file, first, last = CHANGES[case]
    answer = ask(version, model, *argv)
    assert answer.outcome == STARTS, answer.unknowns
    change = answer.fields[field]
    assert (change.resolved, change.certainty) == (value, "will")
    assert any(cause.at.path.endswith(file) and first <= cause.at.line <= last for cause in change.by), (
        change.by
    )


@pytest.mark.parametrize(
    ("case", "version", "argv", "unchanged"),
    [
        ("d07 both on again", "0.5.17", NEXTN, "disable_radix_cache"),
        ("d08 mixed chunk stays", "0.5.23", (*NEXTN, "--enable-mixed-chunk"), "enable_mixed_chunk"),
        (
            "b22 strategy without a radix cache",
            "0.5.23",
            (*NEXTN, "--mamba-radix-cache-strategy", "extra_buffer", "--disable-radix-cache"),
            "mamba_radix_cache_strategy",
        ),
    ],
)
def test_left_alone_as_the_case_tells(case, version, argv, unchanged, ask):
    answer = ask(version, "qwen3-next", *argv)
    assert answer.outcome == STARTS, answer.unknowns
    assert unchanged not in answer.fields
