"""Rules as steps of a rehearsal: what is kept of a guard, what is unknown, what is left out."""

from __future__ import annotations

import pytest

from indexer.knowledge.refusals.expressions import Writer, alternatives, may_raise
from indexer.knowledge.refusals.steps import steps_of
from indexer.knowledge.schema import Condition, Location, Rule

FIELDS = frozenset(
    {"tp_size", "page_size", "speculative_algorithm", "speculative_draft_model_path", "model_path"}
)
LOCALS = {
    "size": "cfg.tp_size",
    "either": "cfg.tp_size | cfg.page_size",
    "odd": 'False | "OddForCausalLM" in (getattr(config, "architectures", None) or [])',
    "config": "get_config(speculative_draft_model_path, revision=revision)",
    "arch": "hf_config.architectures[0]",
    "hf_config": "model_config_of(server_args).hf_config",
}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("self.tp_size > 1", "tp_size > 1"),
        ("cfg.page_size is None", "page_size is None"),
        ("resolving_view(server_args).page_size == 1", "page_size == 1"),
        ("is_hip() and cfg.tp_size > 1", "... and tp_size > 1"),
        ("not is_hip()", "..."),
        ("size * 2 == 8", "tp_size * 2 == 8"),
        ("either > 1", "..."),
        ("other.tp_size > 1", "..."),
        ("cfg.unread > 1", "..."),
        ('cfg.model_path.lower() in ["none", "dummy"]', "model_path.lower() in ['none', 'dummy']"),
        ("self.is_eagle()", "speculative_algorithm in ('EAGLE', 'NEXTN')"),
        ("isinstance(cfg.page_size, (int, str))", "isinstance(page_size, (int, str))"),
        ("odd", "speculative_draft_model_path is not None and __architecture in ('OddForCausalLM',)"),
        ("x := cfg.tp_size", "..."),
        ("for a in b", "..."),
    ],
)
def test_expressions_are_written_in_fields(text: str, written: str) -> None:
    writer = Writer(FIELDS, LOCALS, {"is_eagle": ["EAGLE", "NEXTN"]}, FIELDS)
    assert writer.written(text) == written


HELPERS = {
    "wide(cfg)": "cfg.tp_size > 1 or paged(cfg)",
    "paged(cfg)": "cfg.page_size > 1",
    "self.draft()": "self.speculative_algorithm is not None",
    "outside(cfg)": "cfg.tp_size > limit and tp_size",
    "cfg": "other_record()",
}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("wide(self)", "tp_size > 1 or page_size > 1"),
        ("not wide(resolved_view(server_args))", "not (tp_size > 1 or page_size > 1)"),
        ("paged(self._resolved())", "page_size > 1"),
        ("self._resolved().page_size == 1", "page_size == 1"),
        ("self.draft() and is_hip()", "speculative_algorithm is not None and ..."),
        ("outside(view)", "... and ..."),
        ("wide(cfg)", "..."),
        ("wide(model)", "..."),
        ("wide(self, 2)", "..."),
        ("other._resolved().page_size", "..."),
    ],
)
def test_helpers_of_the_record_are_written_out(text: str, written: str) -> None:
    assert Writer(FIELDS, HELPERS).written(text) == written


def test_only_a_special_model_names_its_architecture() -> None:
    writer = Writer(FIELDS, LOCALS)
    assert writer.written('arch != "OddForCausalLM"') == "..."
    assert writer.written('arch != "OddForCausalLM"', special=True) == "__architecture != 'OddForCausalLM'"
    assert writer.written('arch in ("A", "B", "C")', special=True) == "..."


def test_bars_inside_brackets_and_quotes_are_no_alternatives() -> None:
    assert alternatives('f(a | b) | "x | y" | c') == ["f(a | b)", '"x | y"', "c"]


def rule(kind: str, line: int, guard: list[Condition], **more: object) -> Rule:
    at = Location("python/sglang/x.py", line)
    flags = sorted(FIELDS)
    return Rule(f"r{line}", kind, at, "handle", guard, flags=flags, stage="resolver", **more)  # type: ignore[arg-type]


IF_WIDE = Condition("cfg.tp_size > 1")


def test_an_assertion_is_refused_where_it_does_not_hold() -> None:
    steps = steps_of(
        [rule("assert", 3, [IF_WIDE], values=["cfg.page_size == 1"], exception="AssertionError")], FIELDS
    )
    assert [(step.guard, step.exception, step.line) for step in steps] == [
        (("tp_size > 1", "not (page_size == 1)"), "AssertionError", 3)
    ]


def test_what_python_may_refuse_to_compare_is_placed_where_it_is_compared() -> None:
    def at(line: int) -> Location:
        return Location("python/sglang/x.py", line)

    compared = Condition("cfg.page_size > 1", at=at(5))
    guard = [Condition("cfg.tp_size == 2", at=at(4)), compared, compared, Condition("cfg.tp_size >= 0")]
    (step,) = steps_of([rule("error", 9, guard, exception="ValueError")], FIELDS)
    assert step.raising == ((1, "python/sglang/x.py", 5), (2, "python/sglang/x.py", 9))
    assert step.line == 9


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("a == 1 and b is None", False),
        ("not a", False),
        ("a in ('x', 'y') or isinstance(a, str)", False),
        ("a == 1 or not (b <= 2)", True),
        ("a in b", True),
        ("a * 2 == b", True),
        ("-a == b", True),
        ("a.startswith('x')", True),
        ("len(a) == 1", True),
    ],
)
def test_what_may_raise(text: str, may: bool) -> None:
    assert may_raise(text) is may


def test_a_refusal_that_asks_for_more_than_fields_is_left_out() -> None:
    unknown = [IF_WIDE, Condition("is_hip()")]
    assert steps_of([rule("error", 3, unknown, exception="ValueError"), rule("error", 4, [])], FIELDS) == []


def test_an_earlier_refusal_does_not_guard_a_later_one() -> None:
    earlier = Condition("cfg.page_size > 64 and is_hip()", holds=False, how="raise")
    (step,) = steps_of([rule("error", 3, [earlier, IF_WIDE], exception="ValueError")], FIELDS)
    assert step.guard == ("tp_size > 1",)


def test_writes_are_kept_where_a_refusal_depends_on_them() -> None:
    refusal = rule("error", 9, [Condition("cfg.page_size > 1")], exception="ValueError")
    known = rule("override", 3, [IF_WIDE], targets=["page_size"], values=["64"], shape="assignment")
    unknown = rule(
        "override", 4, [Condition("is_hip()")], targets=["page_size"], values=["1"], shape="assignment"
    )
    idle = rule("override", 5, [IF_WIDE], targets=["model_path"], values=["'x'"], shape="assignment")
    steps = steps_of([known, unknown, idle, refusal], FIELDS)
    assert [step.writes for step in steps] == [(("page_size", "64"),), (("page_size", "..."),), ()]


def test_a_switch_in_a_dict_of_decisions_may_be_written_later() -> None:
    refusal = rule("error", 9, [Condition("cfg.page_size")], exception="ValueError")
    switch = rule("override", 3, [IF_WIDE], targets=["page_size"], values=["True"], shape="dict literal")
    number = rule("override", 4, [IF_WIDE], targets=["page_size"], values=["64"], shape="dict item")
    steps = steps_of([switch, number, refusal], FIELDS)
    assert [(step.guard, step.writes) for step in steps[:2]] == [
        (("tp_size > 1", "..."), (("page_size", "True"),)),
        (("tp_size > 1",), (("page_size", "..."),)),
    ]


def test_a_write_that_sglang_warns_of_is_told() -> None:
    warning = rule("warning", 3, [IF_WIDE], message="page size is replaced")
    write = rule(
        "override", 4, [IF_WIDE], targets=["page_size"], values=["1"], shape="assignment", companion="r3"
    )
    (step,) = steps_of([warning, write], FIELDS)
    assert (step.told, step.path, step.line) == (True, "python/sglang/x.py", 4)
