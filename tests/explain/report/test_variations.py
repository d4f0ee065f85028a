"""Variations of a launch: which are tried, and what is told of each."""

from __future__ import annotations

import pytest

from indexer.explain.explain import Explainer
from indexer.explain.explanation import MAY, Explanation, FieldChange, UnknownFact
from indexer.explain.launches import Question
from indexer.explain.report.differences import differences
from indexer.explain.report.gather import Report, Varied
from indexer.explain.report.numbers_part import numbers_part
from indexer.explain.report.variations import (
    DRAFT_NUMBERS,
    fields_set,
    numbers_and_backends,
    numbers_to_give,
)
from indexer.explain.report.variations_part import outcome
from indexer.knowledge.schema import SCHEMA_VERSION, Flag, Snapshot, Source


def _flag(dest: str, default: object = None) -> Flag:
    return Flag(dest, [f"--{dest.replace('_', '-')}"], dest, "_StoreAction", default=default)


FLAGS = [_flag(dest) for dest in (*DRAFT_NUMBERS, "attention_backend", "page_size")]
SNAPSHOT = Snapshot(SCHEMA_VERSION, Source("1", "folder"), flags=FLAGS)
GIVEN = [
    "--speculative-num-steps",
    "3",
    "--speculative-eagle-topk",
    "1",
    "--speculative-num-draft-tokens",
    "4",
]
CHOSEN = dict(zip(DRAFT_NUMBERS, (3, 1, 4), strict=True))


def _starts(fields: dict[str, FieldChange], **speculative: object) -> Explanation:
    return Explanation("1", "starts", fields=fields, speculative=speculative)


LEFT = _starts(
    {"attention_backend": FieldChange(None, "triton"), "page_size": FieldChange(None, 1)}, **CHOSEN
)
ASKED = _starts(
    {"attention_backend": FieldChange(None, "trtllm_mha"), "page_size": FieldChange(None, 64)}, **CHOSEN
)


def _report(answer: Explanation, varied: list[Varied]) -> Report:
    numbers = [numbers_and_backends(SNAPSHOT, [], [], answer)]
    numbers += [numbers_and_backends(SNAPSHOT, [], one.added, one.answer) for one in varied]
    return Report(
        "1", None, "NEXTN", None, None, [], answer, None, None, [], varied, [], None, None, [],
        draft_numbers=numbers,
    )  # fmt: skip


def test_the_numbers_that_sglang_chooses_are_given_too() -> None:
    ways = numbers_to_give(SNAPSHOT, LEFT)
    assert ways[0] == GIVEN
    assert [way[1::2] for way in ways] == [["3", "1", "4"], ["3", "4", "8"]]
    other = _starts({}, **dict(zip(DRAFT_NUMBERS, (5, 4, 8), strict=True)))
    assert [way[1::2] for way in numbers_to_give(SNAPSHOT, other)] == [
        ["5", "4", "8"], ["3", "1", "4"], ["3", "4", "8"],
    ]  # fmt: skip
    only_one = _starts({}, speculative_num_draft_tokens=12)
    assert numbers_to_give(SNAPSHOT, only_one)[0] == ["--speculative-num-draft-tokens", "12"]
    refused = Explanation("1", "refused")
    assert [way[1::2] for way in numbers_to_give(SNAPSHOT, refused)] == [["3", "1", "4"], ["3", "4", "8"]]


def test_backend_and_page_size_stand_beside_the_numbers() -> None:
    told = numbers_part(_report(LEFT, [Varied(GIVEN, ASKED, sets=list(DRAFT_NUMBERS))]))
    left, given = (line for line in told.splitlines() if "3/1/4" in line)
    assert "left to SGLang" in left and "`triton`" in left and "`1`" in left
    assert "--speculative-num-steps 3" in given and "`trtllm_mha`" in given and "`64`" in given


def test_what_is_not_certain_is_not_told_as_a_value() -> None:
    answer = _starts({"page_size": FieldChange(None, 1, MAY, possible=[1, 64])})
    assert "page_size" not in numbers_and_backends(SNAPSHOT, [], [], answer).values
    assert numbers_and_backends(SNAPSHOT, [], ["--page-size", "64"], _starts({})).values["page_size"] == "64"
    assert numbers_and_backends(SNAPSHOT, [], [], Explanation("1", "refused")).values == {}


def test_fields_that_go_back_and_given_values_that_do_not_stay_are_differences() -> None:
    before = _starts({"page_size": FieldChange(None, 1), "radix": FieldChange("auto", "extra")})
    after = _starts({"page_size": FieldChange(64, 1)})
    assert list(differences(before, after, ["page_size"]).values()) == [
        "`page_size` = `1` instead of the `64` given",
        "`radix` = `auto`, as asked",
    ]
    assert differences(before, before, []) == {}
    assert fields_set(SNAPSHOT, GIVEN) == list(DRAFT_NUMBERS)


def test_a_variation_that_can_not_serve_says_so() -> None:
    after = _starts({})
    after.unknowns.append(UnknownFact("GPUs of the node", "it starts 16 processes; there are 8"))
    assert (
        "but it starts 16 processes"
        in outcome(_report(_starts({}), []), Varied(["--pp-size", "2"], after))[1]
    )


@pytest.mark.oracle
@pytest.mark.release
@pytest.mark.parametrize("model", ["qwen3-next", "qwen3_5-moe"])
def test_giving_the_chosen_numbers_changes_the_backend_on_b200(shared, release_tree, model: str) -> None:
    explainer = Explainer(release_tree("0.5.17"))
    folder = str(shared / "oracle" / "models" / model)
    found = []
    for added in ([], GIVEN):
        answer = explainer.explain(Question(["--speculative-algorithm", "NEXTN", *added], folder, gpu="B200"))
        numbers = numbers_and_backends(SNAPSHOT, [], added, answer)
        found.append((numbers.values["attention_backend"], numbers.values["page_size"]))
    assert found == [("triton", 1), ("trtllm_mha", 64)]
