"""The attribute reads of a body: outer chains, with the guards of the call graph's facts."""

from __future__ import annotations

import textwrap

from indexer.syntax.callgraph.attribute_reads import ATTRIBUTE_READS
from indexer.syntax.callgraph.facts import CALL_FACTS
from indexer.syntax.callgraph.load import load_symbols
from indexer.syntax.callgraph.symbols import Function
from indexer.syntax.facts import extract_file
from tests.trees import MemoryTree

SOURCE = """
x = config.a
def f(self):
    self.pool.size = g(self.pool.kv).shape
    def inner():
        return other.name
    if self.ready:
        self.go.now()
"""


def function(name: str) -> Function:
    symbols = load_symbols(MemoryTree({"python/sglang/srt/m.py": textwrap.dedent(SOURCE)}))
    (found,) = symbols.functions_by_name[name]
    return found


def test_chains_are_told_once_and_those_inside_calls_too() -> None:
    reads = [(line, text) for line, text, _ in function("f").reads]
    expected = [
        *((4, "self.pool.size"), (4, "g(self.pool.kv).shape"), (4, "self.pool.kv")),
        *((7, "self.ready"), (8, "self.go.now")),
    ]
    assert reads == expected


def test_reads_of_a_nested_function_are_its_own() -> None:
    assert [text for _, text, _ in function("inner").reads] == ["other.name"]


def test_guard_of_a_read_is_the_one_of_the_file_facts() -> None:
    found = function("f")
    guards = found.module.facts.guards
    last = found.reads[-1]
    assert guards[last[2]].text == "self.ready"
    assert found.reads[0][2] == -1


def test_one_walk_gives_the_calls_and_the_reads_that_two_would() -> None:
    source = textwrap.dedent(SOURCE).replace("name", "näme").encode()
    calls, reads = (extract_file("m.py", source, [one]) for one in (CALL_FACTS, ATTRIBUTE_READS))
    assert extract_file("m.py", source, [CALL_FACTS, ATTRIBUTE_READS]) == {**calls, **reads}
    assert "näme".encode() in reads[ATTRIBUTE_READS.key]
