"""Messages found by what is pasted, and their stories; the handed cases whose rules drifted."""

from __future__ import annotations

import json

import msgspec
import pytest
from click.testing import CliRunner

from indexer.cli.history import command
from indexer.errors import UsageError
from indexer.knowledge.message_words import Messages, Story, fold, load_message_words, runs_of
from indexer.knowledge.messages import MessageFile, MessageHistory, fold_messages, load_messages
from indexer.knowledge.schema import Condition, Location, Rule
from indexer.knowledge.timeline import message_timelines


def rule(line: int, message: str, guard: str = "x") -> Rule:
    at = Location("python/sglang/a.py", line, symbol="C.check")
    return Rule(
        f"r{line}", "error", at, "C.check", [Condition(guard)], message=message, exception="ValueError"
    )


VERSIONS = {
    "1": [rule(5, "top k {self.k} must be one for this backend")],
    "2": [rule(9, "top k {cfg.k} must be one for this backend", "y")],
    "3": [rule(7, "quite another thing is said here now")],
}


@pytest.fixture(scope="module")
def small() -> Messages:
    return fold(VERSIONS, message_timelines(list(VERSIONS.items())))


def test_found_with_its_values_filled_in(small: Messages) -> None:
    (found,) = small.find("ValueError: top k 4 must be one for this backend")
    history = MessageHistory(msgspec.json.decode(fold_messages(VERSIONS), type=MessageFile))
    story = small.story(found.message, history)
    assert found.how == "whole"
    assert (story.first, story.last, story.current) == ("1", "2", False)
    assert story.events == [
        ("1", "there since before the history begins  [python/sglang/a.py:5]"),
        ("2", "another guard"),
        ("3", "gone (last in 2)"),
    ]


@pytest.mark.parametrize(
    ("pasted", "how"),
    [
        ("top k 4 must be one for this backend", "whole"),
        ("a.py:5 ValueError: top k 4 must be one for this backend, says the log", "whole"),
        ("must be one for this", "part"),
        ("ValueError: must be one for this", "part"),
        ("it must be one for this machine or another", "alike"),
    ],
)
def test_how_sure_a_find_is(small: Messages, pasted: str, how: str) -> None:
    assert [found.how for found in small.find(pasted)] == [how]


def test_the_longer_of_two_messages_that_are_pasted_whole_comes_first() -> None:
    short, long = "drafting is off now", "drafting is off now, since the backend has no kernel for it"
    rules = {"1": [rule(1, short), rule(2, long)]}
    found = fold(rules, message_timelines(list(rules.items()))).find(f"WARNING: {long}")
    assert [len(one.message.runs) for one in found] == sorted((len(runs_of(short)), len(runs_of(long))))[::-1]


def _story(rules: dict[str, list[Rule]], pasted: str, kind: str) -> Story:
    messages = fold(rules, message_timelines(list(rules.items())))
    history = MessageHistory(msgspec.json.decode(fold_messages(rules), type=MessageFile))
    (found,) = (one.message for one in messages.find(pasted) if one.message.kind == kind)
    return messages.story(found, history)


def test_of_several_functions_the_head_names_the_one_at_the_place() -> None:
    said = [
        msgspec.structs.replace(rule(line, "at most {n} requests run at once"), function=f"C.{function}")
        for line, function in ((30, "of_tree"), (10, "of_chain"), (20, "of_ngram"), (40, "of_tree"))
    ]
    story = _story({"1": said}, "at most 48 requests run at once", "error")
    assert (story.at, story.function, story.also) == (
        "python/sglang/a.py:10",
        "of_chain",
        ["of_ngram", "of_tree"],
    )
    assert story.told().splitlines()[0] == "error (ValueError) in of_chain and 2 more: 1 … now"
    story.text, story.text_at, story.text_in = "at most", "0 b.py:3", "of_old"
    assert story.told().splitlines()[1].endswith("[0 b.py:3 in of_old]")


def test_under_a_story_of_one_kind_stand_its_own_events() -> None:
    def said(kind: str, guard: str, words: str = "the overlap scheduler is off for this draft") -> list[Rule]:
        return [msgspec.structs.replace(rule(5, words, guard), kind=kind, exception=None)]

    reworded = said("warning", "w", "the overlap scheduler is off for that draft")
    rules = {"1": said("notice", "x"), "2": said("notice", "y"), "3": said("warning", "z")}
    rules |= {"4": said("warning", "w"), "5": reworded}
    at = "  [python/sglang/a.py:5]"
    pasted = "the overlap scheduler is off for this draft"
    assert _story(rules, pasted, "notice").events == [
        ("1", f"there since before the history begins{at}"),
        ("2", "another guard"),
        ("3", "gone (last in 2)"),
        ("3", f"goes on as warning{at}"),
    ]
    assert _story(rules, pasted, "warning").events == [
        ("3", f"appeared{at}"),
        ("4", "another guard"),
        ("5", "gone (last in 4)"),
        ("5", f"another wording took its place{at}"),
    ]


def test_no_event_lies_outside_the_story_it_stands_under() -> None:
    messages, history = load_message_words(), load_messages()
    assert history is not None
    releases = history.releases
    for message in messages.messages:
        story = messages.story(message, history)
        end = releases.index(story.last) + (not story.current)
        span = set(releases[releases.index(story.first) : end + 1])
        assert {version for version, _ in story.events} <= span, message.key


def test_found_by_a_part_of_it_and_not_by_anything(small: Messages) -> None:
    assert small.find("must be one for this")
    assert small.find("the quick brown fox jumps over the lazy dog") == []
    assert small.find("") == []


def test_no_word_is_kept() -> None:
    assert set(runs_of("top k {x} must be one")) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("pasted", "first", "last"),
    [
        # d07 (an error only between 0.5.10 and 0.5.13), e11, b15 of the cases; query 8 of the summary
        ("not compatible with radix cache when using no_buffer", "0.5.10", "0.5.13.post1"),
        (
            "STANDALONE speculative decoding requires the draft model to share the same vocabulary",
            "0.5.15",
            "0.5.23",
        ),
        (
            "--disaggregation-decode-enable-radix-cache is incompatible with speculative decoding",
            "0.5.11",
            "0.5.23",
        ),
        ("Spec v2 currently only supports topk = 1 for speculative decoding.", "0.5.7", "0.5.10.post1"),
    ],
)
def test_handed_cases(pasted: str, first: str, last: str) -> None:
    messages, history = load_message_words(), load_messages()
    assert history is not None
    stories = [messages.story(one.message, history) for one in messages.find(pasted)]
    assert (first, last) in [(story.first, story.last) for story in stories]


def test_command() -> None:
    pasted = "not compatible with radix cache when using no_buffer"
    told = CliRunner().invoke(command, ["--message", pasted, "--json"])
    story = json.loads(told.output)["messages"][0]
    assert (story["kind"], story["last"], story["current"]) == ("error", "0.5.13.post1", False)
    assert story["match"] == "alike"
    frame = '  File "/x/server_args.py", line 2012, in _handle\n    raise ValueError(\n'
    raised = "ValueError: Spec v2 currently only supports topk = 1 for speculative decoding."
    told = CliRunner().invoke(command, ["--message", f"Traceback:\n{frame}{raised}", "--json"])
    story = json.loads(told.output)["messages"][0]
    assert (story["match"], story["last"]) == ("whole", "0.5.10.post1")
    with pytest.raises(UsageError, match="says this"):
        CliRunner().invoke(command, ["--message", "never said by anybody at all"], catch_exceptions=False)
