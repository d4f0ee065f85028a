"""Algorithms are read from an enum or a registry, with spellings, predicates and workers."""

from __future__ import annotations

from indexer.extract.algorithms import extract_algorithms
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

ENUM = """
from enum import Enum, auto
_RESERVED = frozenset({"OLDNAME"})

class SpeculativeAlgorithm(Enum):
    FAST = auto()
    FAST2 = auto()
    TABLE = auto()
    NONE = auto()

    @classmethod
    def from_string(cls, name):
        upper = name.upper()
        if upper in _RESERVED:
            return cls.FAST
        return cls[upper]

    @classmethod
    def register(cls, name): ...

    def is_fast(self):
        return self in (SpeculativeAlgorithm.FAST, SpeculativeAlgorithm.FAST2)

    def is_table(self):
        return self == SpeculativeAlgorithm.TABLE

    def needs_draft(self):
        return self.is_fast() and not self.is_table()

    def is_odd(self):
        return self.value % 2 == 1

    def create_worker(self, server_args):
        overlap = not server_args.disable_overlap_schedule
        if self.is_fast():
            if overlap:
                from sglang.srt.speculative.workers import FastWorkerV2

                return FastWorkerV2
            from sglang.srt.speculative.workers import FastWorker

            return FastWorker
        elif self.is_table():
            if overlap:
                raise ValueError("no overlap")
            from sglang.srt.speculative.workers import TableWorker

            return TableWorker
"""
REGISTRY = """
from sglang.srt.speculative.workers import TableWorker

class SpeculativeAlgorithm:
    def is_fast(self):
        return self._has_flag("FAST")

    @classmethod
    def register(cls, name): ...

def register_algorithm(name, worker_cls, aliases=None, flags=None): ...

def _fast(**kwargs):
    return TableWorker(**kwargs)

SpeculativeAlgorithm.register("NONE")
register_algorithm("FAST", worker_cls=_fast, aliases=("OLDNAME",), flags=("FAST",))
"""
WORKERS = "class FastWorker: ...\nclass FastWorkerV2: ...\nclass TableWorker: ...\n"
ARGUMENTS = """
class ServerArgs:
    speculative_algorithm: str = None

    def _handle(self):
        if self.speculative_algorithm == "NEXT" or self.speculative_algorithm == "FAST":
            if special(self):
                self.speculative_algorithm = "FAST2"
                return
            self.speculative_algorithm = "FAST"

    def add_cli_args(parser):
        parser.add_argument("--speculative-algorithm", choices=["FAST", "NEXT", "TABLE"], help="Pick.")
"""


def _extract(spec_info: str):
    files = {"speculative/spec_info": spec_info, "speculative/workers": WORKERS, "server_args": ARGUMENTS}
    tree = MemoryTree({f"python/sglang/srt/{name}.py": source for name, source in files.items()})
    registry, algorithms = extract_algorithms(ModuleGraph(tree))
    return registry, {one.name: one for one in algorithms}


def test_enum_members_with_predicates_and_openness():
    registry, algorithms = _extract(ENUM)
    assert list(algorithms) == ["FAST", "FAST2", "TABLE", "NONE"]
    assert registry.open and registry.open_at.symbol == "SpeculativeAlgorithm.register"
    assert algorithms["TABLE"].declared_at.line == 8
    fast2 = algorithms["FAST2"].predicates
    assert (fast2["is_fast"], fast2["is_table"], fast2["needs_draft"]) == (True, False, True)
    assert "algorithm alone" in fast2["is_odd"].unknown, "what the enum's value decides is not guessed"


def test_spellings_and_promotions_are_told_apart():
    _, algorithms = _extract(ENUM)
    spellings = [
        (one.name, one.at.path.rpartition("/")[2], one.condition) for one in algorithms["FAST"].aliases
    ]
    assert spellings == [
        ("NEXT", "server_args.py", "not special(self)"),
        ("OLDNAME", "spec_info.py", None),
    ]
    promoted = [(one.name, one.condition) for one in algorithms["FAST2"].promoted_from]
    assert promoted == [("NEXT", "special(self)"), ("FAST", "special(self)")]


def test_command_line_choices():
    _, algorithms = _extract(ENUM)
    assert [one.name for one in algorithms.values() if one.cli] == ["FAST", "TABLE"]
    assert algorithms["FAST"].cli_at.line == 13


def test_workers_under_what_is_left_of_the_condition():
    _, algorithms = _extract(ENUM)
    assert [(one.class_name, one.condition, one.class_at.line) for one in algorithms["FAST2"].workers] == [
        ("FastWorkerV2", "not server_args.disable_overlap_schedule", 2),
        ("FastWorker", "server_args.disable_overlap_schedule", 1),
    ]
    assert [(one.class_name, one.condition) for one in algorithms["TABLE"].workers] == [
        ("TableWorker", "server_args.disable_overlap_schedule")
    ]
    assert algorithms["NONE"].workers == []


def test_registry_class_with_aliases_marks_and_factories():
    registry, algorithms = _extract(REGISTRY)
    assert registry.open_at.symbol == "register_algorithm"
    assert {name: one.kind for name, one in algorithms.items()} == {"NONE": "registry", "FAST": "registry"}
    assert algorithms["FAST"].predicates == {"is_fast": True}
    assert algorithms["NONE"].predicates == {"is_fast": False}
    assert "OLDNAME" in [one.name for one in algorithms["FAST"].aliases]
    assert [one.class_name for one in algorithms["FAST"].workers] == ["TableWorker"]


def test_a_tree_without_speculation_has_no_algorithms():
    tree = MemoryTree({"python/sglang/srt/server_args.py": ARGUMENTS})
    registry, algorithms = extract_algorithms(ModuleGraph(tree))
    assert algorithms == [] and registry.declared_at is None
