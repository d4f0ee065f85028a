"""A message through the releases."""

from __future__ import annotations

from indexer.knowledge.schema import Condition, Location, Rule
from indexer.knowledge.timeline import Change, message_timelines, timeline_of


def _rule(message: str | None, guard: str = "", kind: str = "error", line: int = 1, **more: object) -> Rule:
    conditions = [Condition(guard)] if guard else []
    at = Location("python/sglang/srt/server_args.py", line)
    return Rule(f"f-{kind}-{line}", kind, at, "ServerArgs._f", conditions, message=message, **more)


def test_spans_survive_moved_lines_filled_values_and_layouts() -> None:
    versions = [
        ("1", [_rule("page {self.page} over {most}", "self.page > 1", line=5)]),
        ("2", [_rule("page {cfg.page} over %d", "cfg.page > 1", line=9)]),
        ("3", []),
        ("4", [_rule("page {cfg.page} over %d", "cfg.page > 2", kind="warning")]),
    ]
    only = message_timelines(versions)[0]
    assert (only.key, only.spans, only.current) == ("page {} over {}", [("1", "2"), ("4", "4")], True)
    assert only.changes == [
        Change("4", "kind", "error", "warning"),
        Change("4", "guard", "page > 1", "page > 2"),
    ]


def test_a_reworded_message_is_linked_both_ways() -> None:
    versions = [
        ("1", [_rule("topk must be one with draft overlap"), _rule("something else entirely", line=2)]),
        ("2", [_rule("topk must be 1 with draft overlap"), _rule("quite another thing", line=2)]),
    ]
    found = {one.key: (one.came_from, one.became, one.current) for one in message_timelines(versions)}
    assert found["topk must be one with draft overlap"] == (None, "topk must be 1 with draft overlap", False)
    assert found["topk must be 1 with draft overlap"] == ("topk must be one with draft overlap", None, True)
    assert found["something else entirely"] == (None, None, False)


def test_bare_assertion_is_followed_by_its_expression_and_overrides_are_not() -> None:
    old = _rule(None, kind="assert", values=["self.topk is None"])
    new = _rule(None, kind="assert", values=["cfg.topk is None"])
    line = timeline_of(new, [("1", [old]), ("2", [new])])
    assert line is not None and line.spans == [("1", "2")]
    override = _rule("topk is set", kind="override", values=["1"])
    assert timeline_of(override, [("1", [override])]) is None
