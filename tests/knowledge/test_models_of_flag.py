"""Models that have a rule of their own about a flag."""

from __future__ import annotations

from indexer.knowledge.links import Links
from indexer.knowledge.schema import Flag, Location, Model, Rule, Snapshot, Source

AT = Location("a.py", 1)


def test_only_models_with_an_own_rule_near_the_flag_are_named() -> None:
    flag = Flag("page-size", ["--page-size"], "page_size", "_StoreAction")
    snapshot = Snapshot(
        1,
        Source("1", "folder"),
        flags=[flag],
        rules=[
            Rule("own", "override", AT, "f", targets=["page_size"], values=["64"]),
            Rule("far", "error", AT, "f", flags=["page_size"]),
        ],
        models=[
            Model("Zoo", AT, overrides=[{"rule": "own"}]),
            Model("Ant", AT, backends=[{"rule": "own"}, {"rule": "own"}]),
            Model("Far", AT, overrides=[{"rule": "far"}, {"requires": "x"}]),
        ],
    )
    assert [model.architecture for model in Links(snapshot).models_of(flag)] == ["Ant", "Zoo"]
