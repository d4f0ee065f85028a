"""Each shape of a rule, in small sources of our own: what is found, where, and under which guard."""

from __future__ import annotations

from textwrap import dedent

import pytest

from indexer.extract.rules import extract_rules, unread_resolver
from indexer.knowledge.schema import Rule
from tests.trees import MemoryTree

SRT = "python/sglang/srt"
RECORD = f"{SRT}/server_args.py"


def _method_tree(body: str, extra: str = "", more: dict[str, str] | None = None) -> MemoryTree:
    """A tree whose record resolves itself in methods; ``body`` is that of ``__post_init__``."""
    source = (
        "import os\nfrom sglang.srt.environ import envs\n"
        "class ServerArgs:\n"
        "    algo: str = None\n    topk: int = None\n    page_size: int = None\n    tokens: int = None\n"
        "    quiet_mode: bool = False\n"
        "    @staticmethod\n    def add_cli_args(parser):\n        pass\n"
        "    def __post_init__(self):\n" + _indent(body, 8) + "\n" + _indent(extra, 4)
    )
    return MemoryTree({RECORD: source, **(more or {})})


def _indent(text: str, by: int) -> str:
    return "".join(" " * by + line + "\n" for line in dedent(text).strip("\n").split("\n"))


def _rules(body: str, extra: str = "", more: dict[str, str] | None = None) -> list[Rule]:
    return extract_rules(_method_tree(body, extra, more), jobs=1)


def _guard(rule: Rule) -> list[str]:
    return [("" if one.holds else "not ") + one.text for one in rule.guard]


GUARDS = {
    "elif negates what came before": (
        """
        if self.algo == "A":
            pass
        elif self.topk > 1 and self.page_size:
            raise ValueError("two")
        """,
        ['not self.algo == "A"', "self.topk > 1", "self.page_size"],
    ),
    "a constant of the same name makes the negation redundant": (
        """
        if self.algo in ["A", "B"]:
            pass
        elif self.algo == "C":
            raise ValueError("c")
        """,
        ['self.algo == "C"'],
    ),
    "an early return holds for everything after it": (
        """
        if self.algo is None or not self.topk:
            return
        raise ValueError("late")
        """,
        ["not self.algo is None", "self.topk"],
    ),
    "a nested return negates the whole conjunction": (
        """
        if self.algo:
            if self.topk:
                return
        raise ValueError("late")
        """,
        ["not self.algo and self.topk"],
    ),
    "an earlier refusal counts only where it shares a field": (
        """
        if self.page_size > 64:
            raise ValueError("page")
        if self.tokens > 9:
            raise ValueError("tokens")
        assert self.tokens != 5, "odd"
        """,
        ["not self.tokens > 9"],
    ),
    "a test that ends in raise on both sides ends the block": (
        """
        if self.algo:
            if self.topk:
                raise ValueError("a")
            else:
                return
        raise ValueError("b")
        """,
        ["not self.algo"],
    ),
    "except names what was caught": (
        """
        try:
            import thing
        except ImportError:
            raise ValueError("no thing")
        """,
        ["except ImportError"],
    ),
    "a match statement": (
        """
        match self.algo:
            case "A":
                raise ValueError("matched")
        """,
        ['self.algo matches "A"'],
    ),
}


@pytest.mark.parametrize("name", GUARDS)
def test_guard_of_the_last_refusal(name: str) -> None:
    body, expected = GUARDS[name]
    last = [rule for rule in _rules(body) if rule.kind in ("error", "assert")][-1]
    assert _guard(last) == expected


def test_statement_kinds_lines_and_values() -> None:
    rules = _rules(
        """
        if self.topk is None:
            self.topk = 1
            logger.warning("topk is set to 1")
        self.tokens, self.page_size = choose(self)
        envs.SGLANG_SPEED.set(True)
        os.environ["SGLANG_OTHER"] = "1"
        assert (
            self.tokens > self.topk
        ), f"tokens {self.tokens} too few"
        """
    )
    shown = [(rule.kind, rule.targets, rule.values, rule.at.line, rule.at.end_line) for rule in rules]
    assert shown == [
        ("override", ["topk"], ["1"], 14, 14),
        ("warning", ["topk"], [], 15, 15),
        ("override", ["tokens", "page_size"], ["choose(self)", "choose(self)"], 16, 16),
        ("override", ["env:SGLANG_SPEED"], ["True"], 17, 17),
        ("override", ["env:SGLANG_OTHER"], ['"1"'], 18, 18),
        ("assert", ["tokens", "topk"], ["self.tokens > self.topk"], 19, 21),
    ]
    assert rules[0].message == rules[1].message == "topk is set to 1"
    assert rules[0].companion == rules[1].id
    assert rules[-1].message == "tokens {self.tokens} too few"


def test_helper_gets_the_callers_guard_with_its_constants() -> None:
    rules = _rules(
        """
        if self.algo == "A":
            self._check(strict=False)
        elif self.algo == "B":
            self._check()
        """,
        """
        def _check(self, strict: bool = True):
            if strict:
                raise ValueError("strict")
            assert self.topk == 1
        """,
    )
    assert _guard(rules[0]) == ['self.algo == "B"', "strict"]
    assert _guard(rules[1])[0] == 'self.algo == "A"'


def test_table_of_conditions_is_unrolled() -> None:
    rules = _rules(
        """
        table = [
            ("paged", lambda: self.page_size > 1),
            ("quiet", lambda: self.quiet_mode),
        ]
        for name, test in table:
            if test():
                raise ValueError(f"not with {name}")
        """
    )
    assert [(rule.message, _guard(rule), rule.targets) for rule in rules] == [
        ("not with paged", ["self.page_size > 1"], ["page_size"]),
        ("not with quiet", ["self.quiet_mode"], ["quiet_mode"]),
    ]
    assert len({rule.id for rule in rules}) == 2


def test_loop_over_field_names() -> None:
    rules = _rules(
        """
        for name in ("topk", "tokens"):
            if getattr(self, name) is None:
                setattr(self, name, 1)
        """
    )
    assert [(rule.targets, _guard(rule)) for rule in rules] == [
        (["topk"], ["self.topk is None"]),
        (["tokens"], ["self.tokens is None"]),
    ]


def test_local_that_grows_is_told_of_the_field_it_ends_in() -> None:
    rules = _rules(
        """
        reserve = 5
        if self.algo:
            reserve += 2
        share = reserve / 10
        self.tokens = share
        """
    )
    assert [(rule.shape, rule.targets, rule.values) for rule in rules] == [
        ("local accumulator", ["tokens"], ["2"]),
        ("assignment", ["tokens"], ["share"]),
    ]
    assert rules[1].where == {"share": "reserve / 10", "reserve": "5 | 2"}


def test_helpers_that_only_return_an_expression_of_the_record_are_told() -> None:
    helpers = """
        from typing import Any
        def wide(cfg: Any):
            return cfg.topk > 1 or paged(cfg)
        def paged(cfg):
            return cfg.page_size > 1
        def counted(cfg):
            size = cfg.page_size
            return size > 1
        def odd(cfg):
            if cfg.algo:
                return True
            return cfg.topk == 3
        def other(model):
            return model.topk == 4
        """
    rules = _rules(
        """
        from sglang.srt.helpers import counted, odd, other, wide
        if wide(self) and self.is_set() and counted(self) and odd(self) and other(self):
            raise ValueError("no")
        """,
        """
        def is_set(self):
            return self.algo is not None
        """,
        {f"{SRT}/helpers.py": dedent(helpers)},
    )
    assert rules[-1].where == {
        "wide(cfg)": "cfg.topk > 1 or paged(cfg)",
        "paged(cfg)": "cfg.page_size > 1",
        "self.is_set()": "self.algo is not None",
    }


def test_a_helper_s_name_that_means_two_functions_is_told_as_neither() -> None:
    helpers = """
        def wide(cfg):
            return cfg.topk > 1 or paged(cfg)
        def paged(cfg):
            return cfg.page_size > 1
        """
    rules = _rules(
        """
        from sglang.srt.helpers import wide
        from sglang.srt.pages import paged
        if wide(self) and paged(self):
            raise ValueError("no")
        """,
        more={
            f"{SRT}/helpers.py": dedent(helpers),
            f"{SRT}/pages.py": "def paged(args):\n    return args.page_size > 64\n",
        },
    )
    assert rules[-1].where == {"wide(cfg)": "cfg.topk > 1 or paged(cfg)"}


HOOKS = {
    RECORD: """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        pass
    def resolve_once(self):
        from sglang.srt.arg_groups.pipeline import run
        run(self)
""",
    f"{SRT}/arg_groups/fields/spec.py": """
class Spec:
    _NS_PATH = "spec"
    algo: A[str, "help"] = None
    topk: A[int, "help"] = None
    graph_config: A[str, "help"] = None
""",
    f"{SRT}/arg_groups/registry.py": """
_FNS = {}
_WRAPPERS = {}
TABLE = {"OldModel": {"topk": 2}}
def declare_resolution(server_args, source, **fields):
    pass
def resolving_view(server_args):
    pass
def register_for(*names):
    def decorator(fn):
        for name in names:
            _FNS.setdefault(name, []).append(fn)
        return fn
    return decorator
def collect(architecture, server_args):
    for fn in _FNS.get(architecture, ()):
        declare_resolution(server_args, "x", **fn(server_args))
def run_hook(step, server_args):
    step = _WRAPPERS.get(step.__name__, step)
    step(server_args)
def run_pass(server_args, fn):
    declare_resolution(server_args, "x", **fn(server_args))
""",
    f"{SRT}/arg_groups/pipeline.py": """
from sglang.srt.arg_groups.registry import *
from sglang.srt.arg_groups.registry import collect, declare_resolution, register_for, resolving_view, run_hook
from sglang.srt.arg_groups.registry import run_pass
def run(server_args):
    run_hook(handle_algo, server_args)
    run_pass(server_args, topk_default)
    collect("X", server_args)
def handle_algo(server_args):
    cfg = resolving_view(server_args)
    if cfg.algo is not None:
        declare_resolution(
            server_args,
            "handle_algo",
            algo=pick(cfg.algo),
        )
    declare_resolution(server_args, "g", graph_config=with_phase(cfg.graph_config, Phase.DECODE, size=1))
def pick(name):
    if name == "N":
        return "E"
    return name
def topk_default(view):
    if view.topk is None:
        return {"topk": 1}
    return {}
@register_for("NewModel", "NewerModel")
def new_model(server_args, hf_config):
    overrides = {}
    if server_args.algo == "E":
        overrides["topk"] = 4
    return overrides
""",
}


def test_declarations_passes_providers_tables_and_returned_values() -> None:
    rules = extract_rules(MemoryTree(HOOKS), jobs=1)
    shown = {(rule.function, rule.shape): (rule.targets, rule.values, _guard(rule)) for rule in rules}
    assert shown[("handle_algo", "declaration")][0] in (["algo"], ["graph_config.decode.size"])
    assert shown[("pick", "returned value")] == (
        ["algo"],
        ['"E"'],
        ["cfg.algo is not None", 'name == "N"'],
    )
    assert shown[("topk_default", "returned dict")] == (["topk"], ["1"], ["view.topk is None"])
    provider = shown[("new_model", "dict item")]
    assert provider[0] == ["topk"]
    assert provider[2] == ['architecture in ("NewModel", "NewerModel")', 'server_args.algo == "E"']
    assert {rule.overridable for rule in rules if rule.function == "handle_algo"} == {True}
    assert [rule.order for rule in rules] == sorted(rule.order or 0 for rule in rules)


def test_ids_survive_moved_lines_and_differ_by_rule() -> None:
    body = """
    if self.topk > 1:
        raise ValueError("one")
    if self.tokens > 1:
        raise ValueError("two")
    assert self.algo
    """
    first, moved = _rules(body), _rules("pass\n\n# a comment\n" + dedent(body))
    assert [rule.id for rule in first] == [rule.id for rule in moved]
    assert [rule.at.line for rule in first] != [rule.at.line for rule in moved]
    assert len({rule.id for rule in first}) == len(first)


@pytest.mark.parametrize("broken", ["def f(:", "class ServerArgs", "\x00", "", "if x:\n\treturn\n  y"])
def test_broken_sources_give_no_rules_and_no_traceback(broken: str) -> None:
    assert extract_rules(MemoryTree({RECORD: broken}), jobs=1) == []


def test_recursion_in_the_resolver_ends() -> None:
    rules = _rules("self._again(1)", "def _again(self, n):\n    self.topk = n\n    self._again(n)\n")
    assert [rule.targets for rule in rules] == [["topk"]]


MESSAGES = {
    'f"tokens {self.tokens:.2f} over {self.topk!r}"': "tokens {self.tokens} over {self.topk}",
    'f"{self.tokens=} is {{odd}}"': "self.tokens={self.tokens} is {odd}",
    '"a" "b" + str(self.topk) + "\\n"': "ab{str(self.topk)}\n",
    '"topk %s of %d" % (self.topk, 3)': "topk %s of %d",
    '"topk {} of {x}".format(self.topk, x=3)': "topk {} of {x}",
    '"one" if self.topk else "two"': '{"one" if self.topk else "two"}',
    "text": "said before {self.algo}",
}


@pytest.mark.parametrize("written", MESSAGES)
def test_message_template(written: str) -> None:
    rules = _rules(f'text = f"said before {{self.algo}}"\nraise ValueError({written})')
    assert [rule.message for rule in rules] == [MESSAGES[written]]


def test_deprecated_option_actions_are_rules_of_parsing() -> None:
    source = """
class GoneAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        logger.warning(f"'{option_string}' is deprecated")
class ServerArgs:
    topk: int = 1
    @staticmethod
    def add_cli_args(parser):
        pass
"""
    rules = extract_rules(MemoryTree({RECORD: source}), jobs=1)
    assert [(rule.stage, rule.function) for rule in rules] == [("parsing", "GoneAction.__call__")]


def test_a_resolver_of_unknown_shape_is_told() -> None:
    source = "class ServerArgs:\n    @staticmethod\n    def add_cli_args(parser):\n        pass\n"
    rules = extract_rules(MemoryTree({RECORD: source}), jobs=1)
    assert [one.kind for one in unread_resolver(rules)] == ["rules"]
    assert unread_resolver(_rules("self.topk = 1")) == []
