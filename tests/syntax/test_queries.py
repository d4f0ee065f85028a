"""Every query file shows an example; the example must give what the comments say."""

from __future__ import annotations

import pytest

from indexer.syntax import queries
from indexer.syntax.parse import parse, text


def _commented(name: str, mark: str) -> list[str]:
    lines = queries.source(name).splitlines()
    return [line.removeprefix(mark).removeprefix(" ") for line in lines if line.startswith(mark)]


@pytest.mark.parametrize("name", queries.names())
def test_example_of_query_gives_what_its_comments_say(name: str) -> None:
    example = "\n".join(_commented(name, ";>")) + "\n"
    expected = [tuple(line.split(": ", 1)) for line in _commented(name, ";=")]
    assert expected, f"{name}.scm has no example (lines ;> and ;=)"
    found = [
        (node.start_byte, -node.end_byte, capture, text(node).splitlines()[0])
        for capture, nodes in queries.captures(name, parse(example.encode()).root_node).items()
        if not capture.startswith("_")
        for node in nodes
    ]
    assert sorted((capture, shown) for *_, capture, shown in found) == sorted(expected)


@pytest.mark.parametrize("name", queries.names())
def test_query_file_starts_by_saying_what_it_is_for(name: str) -> None:
    first = queries.source(name).splitlines()[0]
    assert first.startswith("; ") and len(first) > 20
