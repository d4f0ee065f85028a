"""The models table, the models × algorithms matrix, hybrid families and a page per model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.knowledge.addresses import slug
from indexer.knowledge.pairings import pairings_of_model
from indexer.knowledge.records import fact_record
from indexer.knowledge.schema import Model, Value
from indexer.knowledge.values import as_location, plain_form
from indexer.publish.site import Page, VersionSite

INDEX = ("Models", "models/index")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the table of models, the hybrid families, then each model."""
    models = sorted(
        site.snapshot.models, key=lambda m: (not m.hybrid, not m.draft, m.is_draft, m.architecture.lower())
    )
    if not models:
        return
    families = _families(models)
    yield Page(
        stem="models/index",
        template="models.html.j2",
        title="Models",
        description=f"Model architectures of SGLang {site.version}: hybrid kinds and draft classes.",
        data=[fact_record(site.version, "model", model) for model in models],
        facts={
            "rows": [_row(model) for model in models],
            "families": families,
            "counts": {
                "all": len(models),
                "hybrid": sum(1 for model in models if model.hybrid),
                "draft": sum(1 for model in models if model.draft),
                "is_draft": sum(1 for model in models if model.is_draft),
            },
        },
    )
    for family in families:
        yield Page(
            stem=f"models/family-{slug(family['kind'])}",
            template="family.html.j2",
            title=f"{family['kind']} hybrids",
            description=f"Models of the hybrid kind {family['kind']} in SGLang {site.version}.",
            data={
                "kind": family["kind"],
                "models": [fact_record(site.version, "model", model) for model in family["models"]],
            },
            trail=[INDEX],
            facts={"family": family, "rows": [_row(model) for model in family["models"]]},
        )
    for model in models:
        yield _page(site, model)


def kind_of(model: Model) -> str | None:
    """Return which kind of hybrid a model is: the layers it has beside full attention."""
    if not model.hybrid:
        return None
    kind = model.hybrid.get("kind")
    return plain_form(kind) if kind else "hybrid"


def draft_name(model: Model) -> str | None:
    """Return the architecture of a model's own draft class, None where it has none."""
    architecture = (model.draft or {}).get("architecture")
    return plain_form(architecture) if architecture else None


def _families(models: list[Model]) -> list[dict[str, Any]]:
    families: dict[str, list[Model]] = {}
    for model in models:
        kind = kind_of(model)
        if kind:
            families.setdefault(kind, []).append(model)
    return [
        {"kind": kind, "stem": f"models/family-{slug(kind)}", "models": members}
        for kind, members in sorted(families.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def _row(model: Model) -> dict[str, Any]:
    strategies = (model.radix or {}).get("strategies")
    return {
        "model": model,
        "kind": kind_of(model),
        "draft": draft_name(model),
        "strategies": strategies if isinstance(strategies, list) else [],
    }


def _page(site: VersionSite, model: Model) -> Page:
    sections = [
        *_parts("Hybrid", model.hybrid),
        *_parts("Draft model", model.draft),
        ("Radix cache", entries(model.radix)),
    ]
    pairs = [] if model.is_draft else pairings_of_model(site.snapshot, model)
    return Page(
        stem=f"models/{model.architecture}",
        template="model.html.j2",
        title=model.architecture,
        description=f"Model architecture {model.architecture} in SGLang {site.version}.",
        data=fact_record(site.version, "model", model),
        trail=[INDEX],
        facts={
            "model": model,
            "kind": kind_of(model),
            "excerpt": site.source.excerpt(msgspec.structs.replace(model.declared_at, end_line=None)),
            "draft": draft_name(model),
            "sections": [(title, rows) for title, rows in sections if rows],
            "backends": [effect(entry) for entry in model.backends],
            "overrides": [effect(entry) for entry in model.overrides],
            "pairs": pairs,
        },
    )


def _parts(title: str, facts: dict[str, Value] | None) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return a mapping as rows, and one part more for each alternative that it holds."""
    facts = dict(facts or {})
    also = facts.pop("also", None)
    parts = [(title, entries(facts))]
    for number, one in enumerate(also if isinstance(also, list) else [], 2):
        parts.append((f"{title}, case {number}", entries(one)))
    return parts


def effect(entry: dict[str, Value]) -> dict[str, Any]:
    """Return what a check or override does to a model's launch, as a row."""
    sets = entry.get("sets")
    return {
        "kind": entry.get("kind") or "override",
        "message": entry.get("message"),
        "requires": entry.get("requires"),
        "sets": list(sets.items()) if isinstance(sets, dict) else [],
        "condition": entry.get("condition"),
        "rule": entry.get("rule"),
        "at": as_location(entry.get("at")),
    }


def entries(facts: dict[str, Value] | None) -> list[dict[str, Any]]:
    """Return a mapping of facts as rows: a label, a value, and the place cited for it.

    ``x`` and ``x_at`` become one row; a lone ``x_at`` a row with a place and no value.
    """
    facts = facts or {}
    rows = []
    for key, value in facts.items():
        stem = key.removesuffix("_at")
        place = as_location(value)
        if key.endswith("_at") and stem in facts:
            continue
        beside = facts.get(f"{key}_at")
        rows.append(
            {
                "label": stem.replace("_", " "),
                "value": ", ".join(map(plain_form, value)) if isinstance(value, list) else value,
                "at": place or as_location(beside),
                "has_value": place is None,
            }
        )
    return rows
