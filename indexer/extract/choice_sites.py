"""Where each accepted value of a flag is written."""

from __future__ import annotations

from indexer.extract.flag_sites import FieldSite, FlagCall
from indexer.extract.literal_sites import LiteralSites, LiteralTracer
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.nodes import annotation_parts


def choice_sites(
    graph: ModuleGraph, site: FlagCall | FieldSite, tracer: LiteralTracer | None = None
) -> LiteralSites:
    """Return the places of a flag's choices; empty where the declaration names none.

    Beside what the parser accepts it may hold more (both spellings of an enum's members): look the
    accepted values up in ``values``. ``open_at`` is the place where plugins can add choices.
    Pass the same ``tracer`` for many flags: it remembers the files it has searched.
    """
    tracer = tracer or LiteralTracer(graph)
    if isinstance(site, FlagCall):
        choices = site.keywords.get("choices")
        return tracer.trace(choices.node, site.module, site.at.symbol or "") if choices else LiteralSites()
    choices = site.metadata.get("choices")
    if choices is not None:
        return tracer.trace(choices.node, site.module, site.class_name)
    if site.annotation_node is not None and "Literal[" in (site.annotation or ""):
        head, parts = annotation_parts(site.annotation_node)
        node = parts[0] if head.rpartition(".")[2] not in ("Literal", "Optional") and parts else None
        return tracer.trace(node or site.annotation_node, site.module, site.class_name)
    return LiteralSites()
