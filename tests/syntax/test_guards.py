"""A statement carries the tests on its way: around it, of earlier branches, of earlier exits."""

from __future__ import annotations

from indexer.syntax.guards import guarded_statements
from indexer.syntax.parse import parse, text

SOURCE = b"""
def f(a):
    if a:
        return 1
    elif b:
        if c:
            raise X
        z = 3
    else:
        w = 4
    for i in q:
        if i:
            continue
        k = 1
    try:
        t = 1
    except E:
        u = 1
    with m:
        v = 5
"""


def test_guards():
    function = parse(SOURCE).root_node.named_children[0]
    found = {
        text(one.statement): (
            [("" if guard.holds else "not ") + text(guard.test) for guard in one.guards],
            one.certain,
        )
        for one in guarded_statements(function)
    }
    assert found == {
        "return 1": (["a"], True),
        "raise X": (["not a", "b", "c"], True),
        "z = 3": (["not a", "b", "not c"], True),
        "w = 4": (["not a", "not b"], True),
        "continue": (["not a", "i"], True),
        "k = 1": (["not a", "not i"], True),
        "t = 1": (["not a"], True),
        "u = 1": (["not a"], False),
        "v = 5": (["not a"], True),
    }
