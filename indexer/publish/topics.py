"""Sorting flags by what they are about, from their names and namespaces alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexer.knowledge.schema import Flag

SPECULATIVE, HYBRID = "Speculative decoding", "Recurrent state"

_TOPICS = {
    SPECULATIVE: re.compile(r"(^|-)(speculative|spec|eagle|nextn|mtp|draft|ngram)(-|$)"),
    HYBRID: re.compile(r"(^|-)(mamba|ssm|linear-attn|gdn|kda|replayssm|hybrid)(-|$)"),
}
"""Topics this index is about, and the words in a flag's name that tell them."""

_UNGROUPED = "Other"


def topics_of(flag: Flag) -> list[str]:
    """Return the topics a flag's name speaks of."""
    return topics_of_name(flag.name)


def topics_of_name(name: str) -> list[str]:
    """Return the topics that the name of a flag, variable or algorithm speaks of."""
    spelled = name.lower().replace("_", "-").lstrip("-")
    return [topic for topic, pattern in _TOPICS.items() if pattern.search(spelled)]


def group_of(flag: Flag) -> str:
    """Return the heading a flag is listed under: its namespace, with CamelCase cut into words."""
    if not flag.namespace:
        return (topics_of(flag) or [_UNGROUPED])[0]
    cut = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", flag.namespace)
    return cut[:1].upper() + cut[1:]


def grouped(flags: Iterable[Flag]) -> list[tuple[str, list[Flag]]]:
    """Return flags by group: groups about our topics first, the others as the source has them."""
    groups: dict[str, list[Flag]] = {}
    for flag in flags:
        groups.setdefault(group_of(flag), []).append(flag)
    order = list(groups)

    def place(group: str) -> tuple[int, int]:
        about = [topics_of(flag) for flag in groups[group]]
        for rank, topic in enumerate(_TOPICS):
            if sum(topic in topics for topics in about) * 2 >= len(about):
                return rank, order.index(group)
        return len(_TOPICS) + (group == _UNGROUPED), order.index(group)

    return [(group, groups[group]) for group in sorted(order, key=place)]
