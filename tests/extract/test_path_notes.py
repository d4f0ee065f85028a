"""Beside a path: the same method of other classes, and draft classes that ignore their layer."""

from __future__ import annotations

from indexer.extract.path_notes import add_path_notes
from indexer.knowledge.schema import CodePath, Location, Model, Step
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

FILES = {
    "backend": """
class Backend:
    def commit_after_verify(self): ...
    def forward(self): ...
""",
    "npu": """
class OtherBackend:
    def commit_after_verify(self): ...
    def forward(self): ...
""",
    "models/drafts": """
class UsingMTP:
    def __init__(self, config, draft_model_idx=None):
        self.layer = draft_model_idx
class IgnoringMTP:
    def __init__(
        self,
        config,
        draft_model_idx=None,
    ):
        self.layer = 0
class NoDraft:
    def __init__(self, draft_model_idx=None): ...
""",
}


def _path(name: str) -> CodePath:
    at = Location("python/sglang/srt/backend.py", 3)
    steps = [
        Step("a", "Backend.commit_after_verify", at, 0, waypoint="commit"),
        Step("b", "Backend.forward", Location(at.path, 4), 0, waypoint="forward"),
        Step("c", "Backend.commit_after_verify", at, 1),
    ]
    return CodePath(name, "Decode", steps=steps)


def _noted(name: str) -> CodePath:
    tree = MemoryTree({f"python/sglang/srt/{name}.py": source for name, source in FILES.items()})
    drafts = [Model(name, Location("x", 1), is_draft=True) for name in ("UsingMTP", "IgnoringMTP")]
    path = _path(name)
    add_path_notes(ModuleGraph(tree), [*drafts, Model("NoDraft", Location("x", 1))], [path])
    return path


def test_way_points_get_the_same_method_of_other_classes() -> None:
    commit, forward, on_the_way = _noted("decode-mtp-hybrid").steps
    (other,) = commit.alternatives
    assert (other["function"], other["at"]) == (
        "OtherBackend.commit_after_verify",
        "python/sglang/srt/npu.py:3",
    )
    assert not forward.alternatives, "a short name says nothing about doing the same"
    assert not on_the_way.alternatives


def test_a_layer_number_that_is_ignored_is_a_finding_of_the_multi_layer_path() -> None:
    assert not _noted("decode-mtp-hybrid").findings
    (finding,) = _noted("decode-multi-layer-mtp").findings
    assert finding["at"] == ["python/sglang/srt/models/drafts.py:9"]
    assert "IgnoringMTP.__init__ takes draft_model_idx and never uses it; UsingMTP uses it" in finding["what"]
