"""Way-points on a small tree of our own: effects, order, absence, templates that fail loudly, renames."""

from __future__ import annotations

import textwrap

import pytest

from indexer.errors import CannotError
from indexer.extract.code_paths.context import Tree
from indexer.extract.code_paths.extract import compare_siblings, path_of
from indexer.extract.code_paths.plan import Hybrid, parse_plan, variant
from indexer.knowledge.schema import CodePath
from indexer.syntax.callgraph.load import load_symbols
from tests.trees import MemoryTree

PLAN = """
[mode.decode]
enum = "ForwardMode"
member = "DECODE"
[device.cuda]
false = ["_is_npu"]
exclude = ["*/npu/*"]
[template.worker]
find = "factory-return"
factory = "create_worker"
enum = "SpeculativeAlgorithm"
on = [{ class = "Scheduler", attribute = "worker" }]
[template.pool]
find = "constructor-stores"
attributes = ["live", "scratch"]
on = [{ attribute = "pool" }]
[state]
live = ["live"]
[path.decode]
title = "decode"
bind = ["worker", "pool"]
point = [
  { id = "loop", assume = "decode", start = { class = "Scheduler", name = "loop" } },
  { id = "worker", of = "loop", is = { on = "worker", called_as = "step" } },
  { id = "verify", phase = "end", of = "worker", here = true, is = { passes = ["is_verify=True"] } },
  { id = "draft", of = "worker", before = "verify", is = { name = "draft" } },
  { id = "commit", of = "verify", anchor = ["write:live"], is = { on = "pool", writes = ["live"] } },
  { id = "trace", of = "commit", is = { name = "trace" }, absent = { name = "trace" } },
]
[path.decode-ngram]
title = "decode with n-grams"
extends = "decode"
algorithm = "NGRAM"
drop = ["draft"]
"""

SOURCE = """
class ForwardMode(IntEnum):
    DECODE = auto()
    EXTEND = auto()
    def is_extend(self): return self == ForwardMode.EXTEND
class SpeculativeAlgorithm(Enum):
    EAGLE = auto()
    NGRAM = auto()
    def is_eagle(self): return self == SpeculativeAlgorithm.EAGLE
    def create_worker(self):
        if self.is_eagle():
            return Worker
        return NgramWorker
class Pool:
    def __init__(self):
        self.live = 1
        self.scratch = 2
    def settle(self, n):
        self.live[n] = self.scratch[n]
class Model:
    def forward(self, is_verify=False): pass
class Worker:
    def __init__(self):
        self.model = Model()
        self.pool = Pool()
    def draft(self): pass
    def step(self, batch):
        if batch.mode.is_extend():
            self.draft()
            return
        self.draft()
        self.check(batch)
        self.draft()
    def check(self, batch):
        self.model.forward(is_verify=True)
        if batch.server_args.flag:
            self.pool.settle(3)
class NgramWorker:
    def __init__(self):
        self.model = Model()
    def step(self, batch):
        self.model.forward(is_verify=True)
class Scheduler:
    def __init__(self, algorithm: SpeculativeAlgorithm):
        made = algorithm.create_worker()
        self.worker = made()
    def loop(self, batch):
        self.worker.step(batch)
class ServerArgs:
    flag: bool = False
"""


def tree(source: str = SOURCE, plan: str = PLAN) -> Tree:
    files = {"python/sglang/srt/all.py": textwrap.dedent(source)}
    return Tree(load_symbols(MemoryTree(files)), parse_plan(plan.encode()))


def grown(source: str = SOURCE, name: str = "decode") -> CodePath:
    path = path_of(tree(source), name)
    assert path is not None
    return path


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def test_steps_come_in_call_order_with_their_lines() -> None:
    path = grown()
    assert [(s.function, s.depth) for s in path.steps] == [
        ("Scheduler.loop", 0),
        ("Worker.step", 1),
        ("Worker.draft", 2),
        ("Worker.check", 2),
        ("Pool.settle", 3),
    ]
    draft = path.steps[2]
    assert draft.call_at is not None
    assert draft.call_at.line == line_of("self.check(batch)") - 1  # not the draft of the extend branch
    assert path.complete


def test_a_step_says_how_it_was_found_and_when_it_is_taken() -> None:
    worker, commit = grown().steps[1], grown().steps[4]
    assert (worker.how, worker.certainty) == ("binding:worker", "selected")
    assert line_of("return Worker") in [w.line for w in worker.witnesses]
    assert [(g.text, g.flags, g.kind) for g in commit.guards] == [
        ("batch.server_args.flag", ["flag"], "flag")
    ]
    assert [a.line for a in commit.anchors] == [line_of("self.live[n]")]
    assert {
        "state": "live",
        "name": "live",
        "access": "write",
        "line": line_of("self.live[n]"),
    } in commit.state
    assert commit.phase == "end"


def test_a_point_that_the_tree_lacks_is_excused_with_its_reason() -> None:
    assert grown().gaps == [
        {"point": "trace", "reason": "nothing in this tree does it", "excused": True, "below": "commit"}
    ]


def test_a_sibling_without_the_commit_is_a_finding() -> None:
    one, other = grown(), grown(name="decode-ngram")
    compare_siblings(tree().plan, [one, other])
    assert not other.complete
    assert [f["what"] for f in other.findings] == [
        "NgramWorker.step never reaches 'commit', which sibling paths have"
    ]
    assert other.findings[0]["at"] == [f"python/sglang/srt/all.py:{line_of('class NgramWorker') + 3}"]


@pytest.mark.parametrize("name", ["check", "settle", "forward", "step"])
def test_roles_by_effect_survive_a_rename(name: str) -> None:
    renamed = SOURCE.replace(f"{name}(", f"renamed_{name}(")
    path = grown(renamed)
    if name == "step":  # the one role that asks for the call's own name fails, naming its point
        assert not path.complete
        assert path.gaps[0]["point"] == "worker"
        return
    assert [s.at.line for s in path.steps] == [s.at.line for s in grown().steps]


SECOND_POOL = """
class SecondPool:
    def __init__(self):
        self.live = 1
        self.scratch = 2
"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SOURCE.replace("create_worker", "make_worker"), "template worker: no witness in this tree"),
        (
            SOURCE.replace("self.scratch = 2", "self.other = 2"),
            "template pool: no witness in this tree; nearest: Pool",
        ),
        (SOURCE + SECOND_POOL, "template pool: 2 classes fit"),
    ],
)
def test_a_template_without_its_witness_fails_loudly(source: str, message: str) -> None:
    path = grown(source)
    assert not path.complete
    assert any(str(gap["reason"]).startswith(message) for gap in path.gaps), path.gaps


def test_a_wrong_plan_names_the_place() -> None:
    with pytest.raises(CannotError, match=r"path\.decode\.point\.worker: no point 'lop'"):
        parse_plan(PLAN.replace('of = "loop"', 'of = "lop"').encode())
    with pytest.raises(CannotError, match="unknown field `nmae`"):
        parse_plan(PLAN.replace("title", "nmae", 1).encode())


VARIED = (
    PLAN
    + """
[path.other-question]
title = "the same points, another question"
extends = "decode"
[path.several-layers]
title = "decode with several layers"
extends = "decode"
layer_parameter = "index"
[template.linear-backend]
find = "local-store"
local = "backend"
kind_names = ["is_gdn"]
"""
)


def test_a_path_is_asked_of_another_algorithm_in_that_algorithm_s_own_words() -> None:
    plan = parse_plan(VARIED.encode())
    names = ("decode", "decode-ngram", "several-layers", "other-question")
    told = {name: variant(plan, name, "NGRAM") for name in names}
    assert {name: found for name, (found, _) in told.items()} == {
        "decode": "decode-ngram",  # the plan has it in words of n-grams
        "decode-ngram": "decode-ngram",
        "several-layers": "decode-ngram",  # n-grams have no layers
        "other-question": "other-question",  # it has not: the same points, followed for another algorithm
    }
    assert all(path.algorithm == "NGRAM" and not path.compare for _, path in told.values())
    name, back = variant(plan, "decode-ngram", "EAGLE")
    assert name == "decode" and "draft" in [point.id for point in back.point]
    name, unknown = variant(plan, "decode-ngram", "UNO")
    assert name == "decode-ngram" and unknown.algorithm == "UNO"


def test_a_path_is_asked_of_another_model_with_its_own_backend() -> None:
    plan = parse_plan(VARIED.encode())
    _, path = variant(plan, "decode", model=Hybrid("TinyKda", "is_kda", ("is_gdn",), "a.py:7"))
    assert path.architectures == ["TinyKda"] and path.chosen == {"linear-backend": "a.py:7"}
    assert path.names == {"is_gdn": False, "is_kda": True}
    assert plan.path["decode"].architectures == [] and plan.path["decode"].names == {}
