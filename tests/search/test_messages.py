"""Pasted errors and log lines of our own making find the rule that wrote them."""

from __future__ import annotations

import pytest

from indexer.knowledge.schema import Location, Rule
from indexer.search.messages import MessageIndex
from indexer.search.pasted import take_apart

PATH = "python/sglang/srt/server_args.py"


def _rule(name: str, kind: str, line: int, end: int | None = None, **more: object) -> Rule:
    return Rule(
        id=name, kind=kind, at=Location(PATH, line, end or line), function="ServerArgs._handle_x", **more
    )


WIDTH = "page width {width} is over {cfg.most} tokens"
RESET = "Running requests is reset to 48 for drafting."
ASSERTED = "self.topk is None and self.tokens is None"

RULES = [
    _rule(
        "width",
        "error",
        10,
        13,
        exception="ValueError",
        message=WIDTH,
    ),
    _rule(
        "bare",
        "assert",
        20,
        23,
        exception="AssertionError",
        values=[ASSERTED],
    ),
    _rule("reset", "warning", 30, 32, message=RESET),
    _rule("percent", "warning", 40, 44, message="%s=%s is deprecated; use '%s' instead."),
    _rule("chosen", "override", 50, message=RESET, companion="reset"),
    _rule(
        "other",
        "error",
        60,
        exception="RuntimeError",
        message=WIDTH,
    ),
]

TRACEBACK = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.12/site-packages/{path}", line {line}, in _handle_x
    assert (
AssertionError
"""


@pytest.mark.parametrize(
    ("pasted", "found", "how"),
    [
        ("ValueError: page width 12 is over 8 tokens", "width", "message"),
        ("RuntimeError: page width 12 is over 8 tokens", "other", "message"),
        ("Running requests is reset to 48", "reset", "message"),
        ("[2026-01-02 03:04:05 TP0] Running requests is reset to 48 for drafting.", "reset", "message"),
        ("WARNING server_args.py:31: Running requests is reset to 48 for drafting.", "reset", "line"),
        ("--a=1 is deprecated; use '2' instead.", "percent", "message"),
        (TRACEBACK.format(path="sglang/srt/server_args.py", line=21), "bare", "line"),
        (TRACEBACK.format(path="sglang/srt/server_args.py", line=900), "bare", "function"),
        ("    assert self.topk is None and self.tokens is None\nAssertionError", "bare", "source"),
        ("runing requests is reset to 48 for drafting", "reset", "near"),
    ],
)
def test_paste_finds_the_rule(pasted: str, found: str, how: str) -> None:
    best = MessageIndex.of(RULES).find(pasted)[0]
    assert (best.rule.id, best.how) == (found, how)


def test_a_question_whose_rarest_word_no_message_has_is_no_paste() -> None:
    rules = [
        _rule(
            f"r{number}", "error", number, message=f"option {name} is incompatible with speculative decoding"
        )
        for number, name in enumerate(("radix", "cache", "hidden", "weights"))
    ]
    index = MessageIndex.of(rules)
    assert index.find("lora with speculative decoding") == []
    assert index.find("option lora with speculative decoding") == []
    assert index.find("option radx is incompatible with speculativ decoding")[0].rule.id == "r0"


def test_values_filled_in_are_read_back() -> None:
    best = MessageIndex.of(RULES).find("ValueError: page width 12 is over 8 tokens")[0]
    assert best.values == {"width": "12", "cfg.most": "8"}


@pytest.mark.parametrize(
    "pasted", ["", "\n\n", "CUDA out of memory", "Traceback (most recent call last):", "\x00{%"]
)
def test_what_no_rule_wrote_finds_nothing(pasted: str) -> None:
    assert MessageIndex.of(RULES).find(pasted) == []


def test_chained_traceback_keeps_the_last_exception_and_all_frames() -> None:
    pasted = take_apart(
        TRACEBACK.format(path="a.py", line=1)
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + 'Traceback (most recent call last):\n  File "b.py", line 2, in go\n    raise E\n'
        + "x.y.SomeError: two\nlines\n"
    )
    assert (pasted.exception, pasted.messages[0]) == ("SomeError", "two lines")
    assert [frame.line for frame in pasted.frames] == [1, 2]
