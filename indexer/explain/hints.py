"""Which options of ``explain`` would decide what isn't known."""

from __future__ import annotations

import re

from indexer.explain.explanation import MODEL, Explanation
from indexer.explain.launches import UNNAMED_GPU

_MODEL_HINT = "--model DIR (the folder of its config.json) or --arch NAME"
_SAID = (
    (re.compile(r"(GPU|GPU memory|GPU name|SM version|number of SMs|gfx architecture)"), "--gpu NAME"),
    (re.compile(r"number of GPUs"), "--gpus N"),
    (re.compile(r"(available )?host RAM|number of CPUs"), "--host-ram GiB"),
    (re.compile(r"env (\S+)"), "--env {0}=VALUE"),
    (re.compile(r"package (\S+)"), "--package {0}=VERSION"),
    (re.compile(r"config\.json: (\S+)"), "a config.json with {0}"),
    (re.compile(r"paths"), "--paths N"),
)
"""Facts as unknowns are called, and what says them."""
_ALGORITHM = "--speculative-algorithm"
_SHORTEST_ALGORITHM = len("--speculative-al")
"""Fewest letters that argparse took for the option in any release."""
_DEPENDS = re.compile(r"depends on ([^)]+)")


def hints(answer: Explanation) -> list[str]:
    """Return what to add to the question so that more is known, the most telling first."""
    found: list[str | None] = ["--gpu NAME" if UNNAMED_GPU in answer.assumed else None]
    for fact in answer.unknowns:
        if fact.what == MODEL:
            found.insert(0, _MODEL_HINT)
        named = _DEPENDS.search(fact.reason) if fact.what == "outcome" else None
        for text in named.group(1).split(", ") if named else [fact.what]:
            found += [_hint(text)]
    return list(dict.fromkeys(one for one in found if one))


def meant_algorithm(argv: list[str], version: str) -> str | None:
    """Return the speculative algorithm that a launch may have meant by a name its release has not."""
    from indexer.errors import CannotError
    from indexer.knowledge.lookup_history import algorithm_names
    from indexer.knowledge.nearest import nearest

    asked = _algorithm(argv)
    try:
        known = algorithm_names(version)
    except CannotError:
        return None
    if asked is None or not known or asked.upper() in known:
        return None
    return next(iter(nearest(asked, known)), None)


def _algorithm(argv: list[str]) -> str | None:
    asked = None
    for word, after in zip(argv, [*argv[1:], None], strict=True):
        option, equals, value = word.partition("=")
        if len(option) >= _SHORTEST_ALGORITHM and _ALGORITHM.startswith(option):
            asked = value if equals else after
    return asked


def _hint(text: str) -> str | None:
    for pattern, option in _SAID:
        match = pattern.fullmatch(text)
        if match:
            return option.format(*match.groups())
    return None
