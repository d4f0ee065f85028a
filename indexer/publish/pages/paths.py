"""The code paths: an overview, and a page per path with its drawing and its steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from indexer.knowledge.records import fact_record
from indexer.knowledge.schema import CodePath, Step, Value
from indexer.knowledge.values import written_place
from indexer.publish.diagram import draw
from indexer.publish.site import Page, VersionSite

INDEX = ("Code paths", "paths/index")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the overview, then each path."""
    paths = site.snapshot.code_paths
    if not paths:
        return
    yield Page(
        stem="paths/index",
        template="paths.html.j2",
        title="Code paths",
        description=f"Generated paths through the source of SGLang {site.version}.",
        data=[{"name": path.name, "title": path.title, "steps": len(path.steps)} for path in paths],
        facts={"paths": paths},
    )
    for path in paths:
        yield _page(site, path)


def _page(site: VersionSite, path: CodePath) -> Page:
    return Page(
        stem=f"paths/{path.name}",
        template="path.html.j2",
        title=path.title,
        description=f"{path.title}, in SGLang {site.version}: {len(path.steps)} steps, each cited.",
        data=fact_record(site.version, "path", path),
        trail=[INDEX],
        facts={
            "path": path,
            "drawing": draw(path),
            "steps": [_entry(site, step) for step in path.steps],
            "findings": [_told(one) for one in path.findings],
        },
    )


def _entry(site: VersionSite, step: Step) -> dict[str, Any]:
    decisive = [at for at in (step.call_at, *step.anchors) if at]
    excerpts = [site.source.excerpt(at, context=1) for at in decisive[:3]]
    return {
        "step": step,
        "excerpts": [excerpt for excerpt in excerpts if excerpt],
        "lines": step.anchors,
        "alternatives": [_told(one) for one in step.alternatives],
    }


def _told(facts: dict[str, Value]) -> dict[str, Any]:
    """Return a finding or an alternative with its places as locations."""
    at = facts.get("at")
    places = [at] if isinstance(at, str) else at if isinstance(at, list) else []
    return {**facts, "places": [found for one in places if (found := written_place(one))]}
