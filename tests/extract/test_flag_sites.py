"""Declarations are found by shape: calls, annotated fields, namespaces; choices by following names."""

from __future__ import annotations

import pytest

from indexer.errors import CannotError
from indexer.extract.choice_sites import choice_sites
from indexer.extract.flag_sites import flag_sites
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

ARGUMENTS = "python/sglang/srt/server_args.py"
CALLS = """
import dataclasses
import sys
from sglang.srt.names import KINDS, Mode, detector_names, grow

SPEEDS = {"slow", "fast"}
def add_speed(more):
    SPEEDS.update(more)

@dataclasses.dataclass
class ServerArgs:
    kind: str = "a"
    speed: str = "slow"

    @staticmethod
    def add_cli_args(parser):
        group = parser.add_argument_group("x")
        group.add_argument("-k", "--kind", choices=["auto", *KINDS] + list(detector_names()))
        speeds = set(SPEEDS)
        if grow:
            speeds.add("warp")
        parser.add_argument("--speed", dest="speed", choices=speeds)
        parser.add_argument("--mode", choices=[m.name.lower() for m in Mode])
        parser.add_argument("--old", action=DeprecatedStoreTrue, new_flag="--speed", help="Deprecated.")
        more_args(parser)

def more_args(parser):
    parser.add_argument("--extra")
"""
NAMES = """
import enum
KINDS = ["a"]
KINDS += ["b"]
KINDS.extend(["c"])
grow = False
class Mode(enum.Enum):
    OFF = enum.auto()
    ON = enum.auto()
class Holder:
    Table = {"x": 1, "y": 2}
def detector_names():
    return list(Holder.Table.keys())
"""
FIELDS = """
from sglang.srt.util import A, Arg, NS
from typing import Literal, Optional

class ServerArgs:
    one: A[Optional[str], "help"] = None
    two: A[str, Arg(help="h", choices=LIST, aliases=["--zwei"]), NS("deep.space")] = "x"
    three: A[Literal["p", "q"], Arg(help="h")] = "p"
    hidden: A[int, Arg(no_cli=True)] = 0
    plain: int = 1

    def add_cli_args(parser):
        register(parser, ServerArgs)

LIST = ["x", "y"]
add_choices = LIST.extend

def register(parser, cls):
    parser.add_argument(*names, **kwargs)
"""
UTIL = "from typing import Annotated\nA = Annotated\nclass Arg: ...\nclass NS: ...\n"
NAMESPACES = """
from sglang.srt.util import A, Arg
from sglang.srt.fields import Spec

class ServerArgs:
    def add_cli_args(parser):
        register(parser)

def register(parser):
    parser.add_argument(*names, **kwargs)
"""
SPEC = """
from sglang.srt.util import A, Arg
class Spec:
    _NS_PATH = "spec"
    steps: A[int, "Steps."] = 3
    slots = Derived(fn="a.b.c")
"""


def _graph(**files: str) -> ModuleGraph:
    return ModuleGraph(MemoryTree({f"python/sglang/srt/{name}.py": source for name, source in files.items()}))


def test_calls_with_their_options_dests_and_helpers():
    sites = flag_sites(_graph(server_args=CALLS, names=NAMES))
    assert sites.layouts == ["argparse calls"]
    assert [(one.option_strings, one.dest, one.at.symbol) for one in sites.calls] == [
        (("-k", "--kind"), "kind", "ServerArgs.add_cli_args"),
        (("--speed",), "speed", "ServerArgs.add_cli_args"),
        (("--mode",), "mode", "ServerArgs.add_cli_args"),
        (("--old",), "old", "ServerArgs.add_cli_args"),
        (("--extra",), "extra", "more_args"),
    ]
    old = sites.calls[3]
    assert old.deprecated and old.replacement == "--speed"
    assert {name: site.kind for name, site in sites.fields.items()} == {"kind": "plain", "speed": "plain"}


def test_choices_are_located_through_names_growth_enums_and_helpers():
    graph = _graph(server_args=CALLS, names=NAMES)
    kind, speed, mode, *_ = flag_sites(graph).calls
    found = choice_sites(graph, kind).values
    assert {value: (at.path.rpartition("/")[2], at.line) for value, at in found.items()} == {
        "auto": ("server_args.py", 18),
        "a": ("names.py", 3),
        "b": ("names.py", 4),
        "c": ("names.py", 5),
        "x": ("names.py", 11),
        "y": ("names.py", 11),
    }
    speeds = choice_sites(graph, speed)
    assert set(speeds.values) == {"slow", "fast", "warp"}
    assert speeds.conditions == {"warp": "grow"}
    assert speeds.open_at is not None and speeds.open_at.line == 7
    assert choice_sites(graph, mode).values["on"].line == 9


def test_annotated_fields():
    graph = _graph(server_args=FIELDS, util=UTIL)
    sites = flag_sites(graph)
    assert sites.layouts == ["annotated fields"]
    assert [name for name, site in sites.fields.items() if site.flag] == ["one", "two", "three"]
    assert sites.declarations == 3 and len(sites.registrars) == 1
    two = sites.fields["two"]
    assert (two.namespace, two.default, two.metadata["aliases"].text) == ("deep.space", '"x"', '["--zwei"]')
    assert choice_sites(graph, two).open_at is not None
    assert set(choice_sites(graph, sites.fields["three"]).values) == {"p", "q"}


def test_namespaces_and_derived_fields():
    sites = flag_sites(_graph(server_args=NAMESPACES, util=UTIL, fields=SPEC))
    assert sites.layouts == ["annotated namespaces"]
    steps, slots = sites.fields["steps"], sites.fields["slots"]
    assert (steps.namespace, steps.class_name, steps.at.line, steps.flag) == ("spec", "Spec", 5, True)
    assert (slots.kind, slots.flag) == ("derived", False)


def test_a_tree_without_server_args_is_told():
    with pytest.raises(CannotError, match="no class ServerArgs"):
        flag_sites(_graph(other="x = 1\n"))
