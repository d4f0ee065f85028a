"""Every shape of reading a launch argument is found; words, writes and other objects are not."""

from __future__ import annotations

from indexer.extract.reads import extract_reads
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

ARGUMENTS = """
class ServerArgs:
    steps: int = 1
    topk: int = 1
    ratio: float = 0.9

    def __post_init__(self):
        if self.steps is None:
            self.steps = 3

    def wide(self):
        return self.topk > 1
"""
CONTEXT = """
def get_server_args(): ...
def get_spec(): ...
def get_exec(): ...
"""
USER = '''
from sglang.srt.runtime_context import get_exec, get_server_args, get_spec
from sglang.srt.elsewhere import get_model

class Worker:
    """Uses server_args.steps."""

    def __init__(self, server_args, runner):
        self.a = server_args.steps  # server_args.topk
        runner.server_args.ratio = 1
        self.b = runner.server_args.ratio
        self.c = getattr(server_args, "topk", None)
        self.d = server_args.wide()
        self.e = f"{server_args.steps}"
        self.f = other.steps

def bags(args: ServerArgs):
    spec = get_spec()
    mamba = get_exec().mamba
    view = resolved_view(args)
    x = spec.steps + get_spec().topk + mamba.ratio + get_exec().mamba.ratio
    y = view.topk + args.ratio + get_server_args().steps + get_model().steps
    z = get_exec().steps
    for name in ("steps", "topk"):
        getattr(view, name)
    return by_name(args, "ratio")

def by_name(server_args, what):
    return getattr(server_args, what)

def pair(server_args):
    a, spec = 1, get_spec()
    return spec.steps

def view_of(cfg):
    return cfg.topk

def other_config(cfg):
    return cfg.topk + cfg.hidden_size

def default():
    return ServerArgs.ratio
'''
FIELDS = {"steps": "spec", "topk": "spec", "ratio": "exec.mamba"}


def _reads():
    files = {"server_args": ARGUMENTS, "runtime_context": CONTEXT, "user": USER}
    tree = MemoryTree({f"python/sglang/srt/{name}.py": source for name, source in files.items()})
    found = extract_reads(ModuleGraph(tree), FIELDS)
    return {
        (name, read.at.line, read.how)
        for name, reads in found.items()
        for read in reads
        if read.at.path.endswith("user.py")
    }, found


def test_reads_in_every_shape():
    reads, _ = _reads()
    assert reads == {
        ("steps", 9, "server_args"),
        ("ratio", 11, "server_args"),
        ("topk", 12, "getattr"),
        ("topk", 13, "through wide()"),
        ("steps", 14, "server_args"),
        ("steps", 21, "get_spec()"),
        ("topk", 21, "get_spec()"),
        ("ratio", 21, "get_exec()"),
        ("topk", 22, "local"),
        ("ratio", 22, "parameter"),
        ("steps", 22, "get_server_args()"),
        ("steps", 25, "getattr by name"),
        ("topk", 25, "getattr by name"),
        ("ratio", 29, "getattr by name"),
        ("steps", 33, "get_spec()"),
        ("topk", 36, "config parameter"),
        ("ratio", 42, "class default"),
    }


def test_reads_inside_the_record_and_their_functions():
    _, found = _reads()
    inside = [
        (read.at.line, read.at.symbol) for read in found["steps"] if read.at.path.endswith("server_args.py")
    ]
    assert inside == [(8, "ServerArgs.__post_init__")], "the assignment is no read"
