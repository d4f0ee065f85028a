"""Shares of call sites are of those inside the tree."""

from indexer.knowledge.shares import call_site_shares, told

COUNTS = {"external": 600, "import or name": 300, "unresolved": 100}


def test_external_sites_are_left_out_of_the_shares() -> None:
    external, shares = call_site_shares(COUNTS)
    assert external == 60
    assert [(one.kind, one.count, one.percent) for one in shares] == [
        ("import or name", 300, 75),
        ("unresolved", 100, 25),
    ]


def test_told_in_one_line() -> None:
    assert told(COUNTS) == (
        "1,000 call sites, 60 % external; of the rest import or name 75.0 %, unresolved 25.0 %"
    )
    assert call_site_shares({}) == (0, [])
