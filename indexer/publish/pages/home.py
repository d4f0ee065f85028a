"""The front page of a version, its search page, and how to read the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from indexer.knowledge.schema import Location
from indexer.publish.prose import first_sentence
from indexer.publish.site import Page, VersionSite
from indexer.publish.topics import HYBRID, SPECULATIVE, topics_of

_SAMPLE_LINES = 7
_EXAMPLES = ("num draft tokens", "eagle topk", "mamba radix cache", "NEXTN", "draft attention backend")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the front page, the search page and the reading guide."""
    snapshot = site.snapshot
    yield Page(
        stem="index",
        template="home.html.j2",
        title="SGLang speculative decoding, from the source",
        description=(
            f"Every flag, algorithm, rule and code path of speculative decoding in SGLang {site.version}, "
            "each cited to file and line."
        ),
        data={
            "version": site.version,
            "versions": site.versions,
            "counts": _counts(site),
            "sections": {section.title: f"{section.stem}.json" for section in site.sections},
        },
        facts={
            "counts": _counts(site),
            "examples": _EXAMPLES,
            "speculative": _topic_rows(site, SPECULATIVE),
            "hybrid": _topic_rows(site, HYBRID),
            "algorithms": snapshot.algorithms,
            "paths": snapshot.code_paths,
            "sample": _sample(site),
        },
    )
    yield Page(
        stem="search",
        template="search.html.j2",
        title="Search",
        description=f"Search the facts of SGLang {site.version}.",
        data={"version": site.version, "index": "pagefind/pagefind.js"},
        facts={"examples": _EXAMPLES},
    )
    yield Page(
        stem="about",
        template="about.html.j2",
        title="How to read this site",
        description="What a citation, an unknown value and a certainty mean here.",
        data={"version": site.version},
    )


def _sample(site: VersionSite) -> dict[str, Any] | None:
    """Return the flag of our topic that most is known about: what an answer here looks like."""
    flags = [
        flag for flag in site.snapshot.flags if SPECULATIVE in topics_of(flag) and _is_short(flag.declared_at)
    ]
    if not flags:
        return None
    told = max(flags, key=lambda flag: (len(site.links.rules_of(flag).near), len(flag.read_at)))
    excerpt = site.source.excerpt(told.declared_at, context=1) if told.declared_at else None
    return {
        "flag": told,
        "excerpt": excerpt,
        "rules": len(site.links.rules_of(told).near),
        "algorithms": len(site.links.algorithms_of(told)),
    }


def _is_short(at: Location | None) -> bool:
    return at is not None and (at.end_line or at.line) - at.line < _SAMPLE_LINES


def _counts(site: VersionSite) -> list[dict[str, Any]]:
    snapshot = site.snapshot
    told = [
        ("flags", len(snapshot.flags), "flags/index"),
        ("algorithms", len(snapshot.algorithms), "algorithms/index"),
        ("models", len(snapshot.models), "models/index"),
        ("rules", len(snapshot.rules), "rules/index"),
        ("code paths", len(snapshot.code_paths), "paths/index"),
        ("environment variables", len(snapshot.env_vars), "env/index"),
    ]
    return [{"label": label, "count": count, "stem": stem} for label, count, stem in told if count]


def _topic_rows(site: VersionSite, topic: str) -> list[dict[str, Any]]:
    return [
        {"flag": flag, "summary": first_sentence(flag.help) if isinstance(flag.help, str) else ""}
        for flag in site.snapshot.flags
        if topic in topics_of(flag)
    ]
