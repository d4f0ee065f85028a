"""The rule groups and a page per group: what the resolver refuses, changes and warns about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from indexer.knowledge.addresses import rule_group, slug
from indexer.knowledge.records import fact_record
from indexer.knowledge.schema import Rule
from indexer.publish.site import Page, VersionSite

INDEX = ("Rules", "rules/index")
_KIND_ORDER = ("error", "assert", "override", "warning", "deprecation", "env", "notice")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the list of groups, then each group."""
    rules = site.snapshot.rules
    if not rules:
        return
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule_group(rule), []).append(rule)
    yield Page(
        stem="rules/index",
        template="rules.html.j2",
        title="Rules",
        description=f"What SGLang {site.version} refuses, changes and warns about when it starts.",
        data=[{"group": group, "rules": [rule.id for rule in members]} for group, members in groups.items()],
        facts={
            "groups": [
                {"name": group, "stem": f"rules/{slug(group)}", "rules": members, "kinds": kinds_of(members)}
                for group, members in groups.items()
            ],
            "kinds": kinds_of(rules),
            "total": len(rules),
        },
    )
    for group, members in groups.items():
        yield Page(
            stem=f"rules/{slug(group)}",
            template="rule_group.html.j2",
            title=group,
            description=f"Rules of {group} in SGLang {site.version}.",
            data=[fact_record(site.version, "rule", rule) for rule in members],
            trail=[INDEX],
            facts={
                "group": group,
                "rules": [_entry(site, rule) for rule in members],
                "kinds": kinds_of(members),
            },
        )


def kinds_of(rules: list[Rule]) -> list[tuple[str, int]]:
    """Return how many rules there are of each kind, refusals first."""
    counts = Counter(rule.kind for rule in rules)
    known = [(kind, counts.pop(kind)) for kind in _KIND_ORDER if kind in counts]
    return known + sorted(counts.items())


def _entry(site: VersionSite, rule: Rule) -> dict[str, Any]:
    flags = {flag.name: flag for name in (*rule.flags, *rule.targets) for flag in site.links.flags(name)}
    values = [*rule.values, *[""] * len(rule.targets)]
    return {
        "rule": rule,
        "flags": list(flags.values()),
        "sets": list(zip(rule.targets, values, strict=False)),
        "excerpt": site.source.excerpt(rule.at, context=1),
    }
