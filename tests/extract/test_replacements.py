from __future__ import annotations

import pytest

from indexer.extract.replacements import said_by, stated_replacements
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree


@pytest.mark.parametrize(
    ("message", "old", "text"),
    [
        ("--old-one is deprecated, use --new-one.", "--old-one", "--new-one"),
        ("'--old-one' has been removed in favor of '--new-one'", "--old-one", "--new-one"),
        ("--old-one is deprecated. Please use '--new-one fast' instead.", "--old-one", "--new-one=fast"),
        (
            "NOTE: --old-one is deprecated. Please set `--new-one` to 'deep' instead.",
            "--old-one",
            "--new-one=deep",
        ),
        ("--old-one is deprecated; use --new-one=pil instead.", "--old-one", "--new-one=pil"),
        ("--old-one is deprecated; using --new-one=pil instead.", "--old-one", "--new-one=pil"),
        ("--old-one is no longer supported. Use --new-one with one of: a, b.", "--old-one", "--new-one"),
        ("The SGLANG_OLD environment variable is deprecated. Use --new-one=x.", "SGLANG_OLD", "--new-one=x"),
    ],
)
def test_messages_that_name_a_replacement(message: str, old: str, text: str) -> None:
    said = said_by(message, 1)
    assert said is not None
    assert (said.old, said.text) == (old, text)


@pytest.mark.parametrize(
    "message",
    [
        "--old-one needs --new-one because the state was removed",
        "--old-one is deprecated",
        "--old-one {} runs {} groups. This is deprecated; use --new-one {} instead.",
        "SGLANG_OLD is deprecated, use --new-one=a and/or --other-one=b instead",
        "Use the legacy server. Replaces the deprecated --old-one.",
        "Use --old-one when --new-one is removed",
        "SGLANG_OLD has been removed: it always runs. Use --new-one to select the other way.",
    ],
)
def test_messages_that_do_not(message: str) -> None:
    assert said_by(message, 1) is None


SOURCE = '''
def check(args, logger):
    """--quiet is deprecated, use --silent."""
    logger.warning(
        "--fast is deprecated. "
        f"Use --speed={args.x} or "
        "nothing."
    )
    logger.warning("--slow is deprecated, use --speed=low instead.")
    logger.warning("--gone is deprecated, use --nowhere instead.")
'''


def test_a_tree_states_them_with_their_lines() -> None:
    graph = ModuleGraph(MemoryTree({"python/sglang/srt/server_args.py": SOURCE}))
    found = stated_replacements(graph, {"--speed", "--silent"})
    assert [(one.old, one.text, one.at.line) for one in found] == [
        ("--quiet", "--silent", 3),
        ("--fast", "--speed", 5),
        ("--slow", "--speed=low", 9),
    ]
