"""A small tree of our own and its snapshot: one fact of each kind, for tests of what reads snapshots."""

from __future__ import annotations

from indexer.knowledge.schema import (
    SCHEMA_VERSION,
    Algorithm,
    AlgorithmRegistry,
    Alias,
    Choice,
    CodePath,
    Condition,
    Coverage,
    Deprecation,
    EnvVar,
    Flag,
    Location,
    Model,
    Read,
    Rule,
    Snapshot,
    Source,
    Step,
    Unknown,
    Unrecognised,
    Worker,
)
from tests.trees import MemoryTree

ARGS = "python/sglang/srt/server_args.py"
_SOURCE = """\
class Args:
    draft_steps: int = None
    old_steps: int = None
    backend: str = pick()


BACKENDS = [
    "triton",
    "other",
]


class Algorithm(Enum):
    FAST = auto()


class FastWorker:
    def run(self):
        if self.args.draft_steps is None:
            raise ValueError("steps are needed")
        return self.step()


class TinyForCausalLM:
    pass


TINY_DEBUG = flag("TINY_DEBUG")
"""


def small_tree() -> MemoryTree:
    """Return the tree that ``small_snapshot`` is about."""
    return MemoryTree({ARGS: _SOURCE}, version="1.0")


def at(text: str, symbol: str | None = None) -> Location:
    """Return the place of the first line that holds ``text``."""
    line = next(n for n, line in enumerate(_SOURCE.splitlines(), 1) if text in line)
    return Location(ARGS, line, symbol=symbol)


def small_snapshot() -> Snapshot:
    """Return the snapshot of ``small_tree``; every citation in it holds."""
    steps = at("draft_steps: int")
    return Snapshot(
        schema=SCHEMA_VERSION,
        source=Source("1.0", "folder"),
        flags=[
            Flag(
                name="speculative-draft-steps",
                option_strings=["--speculative-draft-steps", "--steps"],
                dest="draft_steps",
                action="_StoreAction",
                type="int",
                help="How many steps the draft model takes. See `--backend`.",
                declared_at=steps,
                namespace="spec",
                read_at=[Read(at("draft_steps is None", symbol="FastWorker.run"), "self.args.x")],
            ),
            Flag(
                name="old-steps",
                option_strings=["--old-steps"],
                dest="old_steps",
                action="DeprecatedAction",
                declared_at=at("old_steps"),
                deprecated=Deprecation(at("old_steps"), "--speculative-draft-steps"),
                namespace="spec",
            ),
            Flag(
                name="backend",
                option_strings=["--backend"],
                dest="backend",
                action="_StoreAction",
                default=Unknown("depends on the machine", at("pick()")),
                choices=["triton", "other"],
                choices_at=[Choice("triton", at('"triton"')), Choice("other", at('"other"'))],
                declared_at=at("backend: str"),
                namespace="kernels",
            ),
        ],
        registry=AlgorithmRegistry(declared_at=at("class Algorithm")),
        algorithms=[
            Algorithm(
                "FAST",
                at("FAST"),
                aliases=[Alias("QUICK", "FAST", at("FAST"))],
                predicates={"is_fast": True},
                workers=[Worker("FastWorker", None, at("class FastWorker"), at("class FastWorker"))],
                flags=["draft_steps"],
                rules=["rule:steps-needed"],
            )
        ],
        rules=[
            Rule(
                "rule:steps-needed",
                "error",
                at("raise ValueError"),
                "FastWorker.run",
                guard=[Condition("self.args.draft_steps is None")],
                message="steps are needed",
                flags=["draft_steps"],
                exception="ValueError",
            )
        ],
        models=[Model("TinyForCausalLM", at("class TinyForCausalLM"), hybrid={"kind": "GDN"})],
        code_paths=[
            CodePath(
                "decode",
                "Decode with a draft",
                {"algorithm": "FAST"},
                [
                    Step("a", "FastWorker.run", at("def run"), 0, waypoint="run"),
                    Step("b", "FastWorker.step", at("self.step()"), 1, "a", call_at=at("self.step()")),
                ],
            )
        ],
        env_vars=[EnvVar("TINY_DEBUG", "EnvBool", False, at("TINY_DEBUG"))],
        coverage=Coverage(
            layouts=["annotated fields"],
            counts={"flags": {"seen": 3, "recognised": 3}},
            unknown=[Unrecognised("flag", at("pick()"), "--backend default", "depends on the machine")],
        ),
    )


def unrecognised(text: str) -> Unrecognised:
    """Return an entry for a declaration nobody claimed."""
    return Unrecognised("flag", at("backend: str"), text)
