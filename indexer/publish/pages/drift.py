"""What is new in a version, and what changed against each other release of the site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.drift.change import LEVELS, RULES, Change
from indexer.drift.compare import compare
from indexer.knowledge.history import History
from indexer.publish.site import Page, VersionSite
from indexer.publish.topics import topics_of_name

INDEX = ("Changes", "drift/index")
_LEVEL_TITLES = {
    "START": "Commands that no longer start",
    "MEANING": "Commands that mean something else",
    "DOC": "New, or only documented otherwise",
}
_ONLY_WORDS = ("flag-moved", "flag-help", "flag-not-comparable")
"""Kinds of change that are counted on the page and listed only in its JSON."""


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield what is new since the release before, then a comparison with each older release here."""
    history = site.history
    if history is None or site.version not in history:
        return
    place = history.index(site.version)
    older = [v for v in site.versions if v in history and history.index(v) < place]
    before = history.versions[place - 1] if place else None
    if before is None:
        return
    yield _page(site, history, before, "drift/index", f"New in {site.version}", older)
    for version in older:
        yield _page(site, history, version, f"drift/from-{version}", f"{version} → {site.version}", older)


def _page(site: VersionSite, history: History, old: str, stem: str, title: str, older: list[str]) -> Page:
    renames = history.renames_between(old, site.version)
    changes = compare(history.at(old), history.at(site.version), renames)
    shown = [change for change in changes if change.code not in _ONLY_WORDS]
    words = Counter(change.code for change in changes if change.code in _ONLY_WORDS)
    return Page(
        stem=stem,
        template="drift.html.j2",
        title=title,
        description=f"What changed for a command between SGLang {old} and {site.version}.",
        data={"old": old, "new": site.version, "changes": msgspec.to_builtins(changes)},
        trail=[] if stem == "drift/index" else [INDEX],
        facts={
            "old": old,
            "older": older,
            "levels": [
                (level, _LEVEL_TITLES[level], [_row(site, c) for c in shown if c.level == level])
                for level in LEVELS
            ],
            "words": [(RULES[code].title, count) for code, count in words.most_common()],
            "total": len(shown),
            "facets": [
                {"title": "Topic", "key": "topic", "values": _topics(shown)},
                {"title": "Kind", "key": "kind", "values": Counter(c.kind for c in shown).most_common()},
                {
                    "title": "Change",
                    "key": "change",
                    "values": Counter(RULES[c.code].title for c in shown).most_common(),
                },
            ],
        },
    )


def _topics(changes: list[Change]) -> list[tuple[str, int]]:
    return Counter(topic for change in changes for topic in topics_of_name(change.name)).most_common()


def _row(site: VersionSite, change: Change) -> dict[str, Any]:
    flags = site.links.flags(change.name) if change.kind == "flags" else []
    return {
        "change": change,
        "title": RULES[change.code].title,
        "effect": RULES[change.code].effect,
        "topics": topics_of_name(change.name),
        "flag": flags[0] if flags else None,
    }
