"""Rules of released SGLangs, extracted once per test session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexer.extract.rules import extract_rules
from indexer.knowledge.schema import Rule


@pytest.fixture(scope="session")
def rules_of(release_tree) -> Callable[[str], list[Rule]]:
    """Give the rules of a release; skips where its wheel can't be had."""
    held: dict[str, list[Rule]] = {}

    def extract(version: str) -> list[Rule]:
        if version not in held:
            held[version] = extract_rules(release_tree(version))
        return held[version]

    return extract
