"""Options that are spoken of but do not exist."""

from __future__ import annotations

from indexer.knowledge.ghosts import ghost_options
from indexer.knowledge.schema import Flag, Location, Rule, Snapshot, Source

AT = Location("python/sglang/srt/server_args.py", 7)


def _snapshot(message: str, help_text: str = "") -> Snapshot:
    return Snapshot(
        schema=1,
        source=Source("1.0", "folder"),
        flags=[
            Flag("page-size", ["--page-size"], "page_size", "_StoreAction", help=help_text, declared_at=AT),
            Flag("draft-path", ["--draft-path", "--draft"], "draft_path", "_StoreAction", declared_at=AT),
        ],
        rules=[Rule("r", "error", AT, "f", message=message)],
    )


def test_unknown_options_are_told_with_what_was_meant() -> None:
    ghosts = ghost_options(
        _snapshot("use --page-sizes or --page-size", "see --draft-p and --nothing-like-it")
    )
    shown = {(one.option, one.said_in): (one.nearest, one.abbreviates) for one in ghosts}
    assert shown == {
        ("--page-sizes", "rule:r"): ("--page-size", False),
        ("--draft-p", "flag:page-size"): ("--draft-path", True),
        ("--nothing-like-it", "flag:page-size"): (None, False),
    }


def test_known_options_patterns_and_filled_in_names_are_no_ghosts() -> None:
    assert ghost_options(_snapshot("--page_size, --page-size=1, --speculative-* and --{name} and a--b")) == []
