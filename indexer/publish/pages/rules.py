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
            title=group[:1].upper() + group[1:],
            description=f"Rules of {group} in SGLang {site.version}.",
            data=[fact_record(site.version, "rule", rule) for rule in members],
            trail=[INDEX],
            facts={
                "group": group,
                "functions": _by_function(site, members),
                "total": len(members),
                "facets": [
                    {"title": "Kind", "key": "kind", "values": kinds_of(members)},
                    {
                        "title": "Stage",
                        "key": "stage",
                        "values": Counter(rule.stage for rule in members if rule.stage).most_common(),
                    },
                ],
            },
        )


def _by_function(site: VersionSite, rules: list[Rule]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the rules by function, functions in the order in which their first rule runs."""
    functions: dict[str, list[dict[str, Any]]] = {}
    for rule in sorted(rules, key=lambda rule: (rule.order is None, rule.order or 0, rule.at.line)):
        flags = {flag.name: flag for name in rule.targets for flag in site.links.flags(name)}
        entry = {"rule": rule, "flags": list(flags.values())[:4], "stays": site.stays(rule)}
        functions.setdefault(rule.function, []).append(entry)
    return list(functions.items())


def kinds_of(rules: list[Rule]) -> list[tuple[str, int]]:
    """Return how many rules there are of each kind, refusals first."""
    counts = Counter(rule.kind for rule in rules)
    known = [(kind, counts.pop(kind)) for kind in _KIND_ORDER if kind in counts]
    return known + sorted(counts.items())
