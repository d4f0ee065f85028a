"""The order of a resolver's steps, noted while it runs."""

from __future__ import annotations

from indexer.explain.provenance import trace_writes
from indexer.explain.steps import Step, Watcher
from tests.interpret.running import program_of

SOURCE = """
import dataclasses


@dataclasses.dataclass
class ServerArgs:
    a: int = 0
    b: int = 0
    c: int = 0

    def __post_init__(self):
        for number in range(6):
            self.nothing(number)
        self.first()
        hook(second, self)
        self.checks()
        self.first()
        self.returns_early()
        hook(third, self)
        self.c = 9
        self.nested()
        self.nested()
        self.first()
        self.checks()

    def nothing(self, number):
        return number

    def first(self):
        self.a = 1

    def checks(self):
        if self.a > 5:
            raise ValueError("too much")

    def returns_early(self):
        if self.a:
            return
        if self.b > 5:
            raise ValueError("never asked")

    def nested(self):
        self.first()
        inner(self)


def hook(step, args):
    return step(args)


def second(args):
    args.b = 2


def third(args):
    args.c = 3
    args.b = 4


def inner(args):
    args.b = 5


def from_cli_args():
    return ServerArgs()


def prepare_server_args():
    return from_cli_args()
"""
PATH = "python/sglang/main.py"


def _steps() -> list[Step]:
    program = program_of({"sglang/__init__.py": "", "sglang/main.py": SOURCE})
    module = program.import_module("sglang.main")
    asked = frozenset({(PATH, "ServerArgs.checks"), (PATH, "ServerArgs.returns_early")})
    watcher = Watcher(asked)
    trace_writes(program, module, watcher.writes, [])
    with watcher.watching():
        module.prepare_server_args()
    return watcher.steps()


def test_steps_come_in_the_order_of_their_calls_with_what_they_set() -> None:
    told = [(step.function.rpartition(".")[2], [*step.sets]) for step in _steps()]
    assert told == [
        ("first", ["a"]),
        ("second", ["b"]),
        ("checks", []),
        ("first", ["a"]),
        ("returns_early", []),
        ("third", ["c", "b"]),
        ("nested", ["a", "b"]),
        ("first", ["a"]),
        ("checks", []),
        ("__post_init__", ["c"]),
    ]


def test_a_step_behind_a_wrapper_is_called_where_the_wrapper_is() -> None:
    second = next(step for step in _steps() if step.function == "second")
    line = SOURCE.splitlines().index("        hook(second, self)") + 1
    assert (second.called_at.line, second.called_at.symbol) == (line, "ServerArgs.__post_init__")
    written = SOURCE.splitlines().index("    args.b = 2") + 1
    assert second.sets["b"].line == written


def test_only_lines_that_ran_are_noted() -> None:
    lines = SOURCE.splitlines()
    early = next(step for step in _steps() if step.function.endswith("returns_early"))
    assert lines.index("        if self.b > 5:") + 1 not in early.ran[PATH]
    checks = next(step for step in _steps() if step.function.endswith("checks"))
    assert lines.index("        if self.a > 5:") + 1 in checks.ran[PATH]
