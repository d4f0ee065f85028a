"""Stable ids of facts and the site address of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from indexer.knowledge.schema import Algorithm, CodePath, EnvVar, Flag, Model, Rule, Snapshot

KINDS = ("flag", "algorithm", "model", "rule", "path", "env")
"""The kinds of fact, as in ids (``flag:speculative-num-steps``) and ``indexer show KIND``."""

FOLDERS = {
    "flag": "flags",
    "algorithm": "algorithms",
    "model": "models",
    "rule": "rules",
    "path": "paths",
    "env": "env",
}
"""The site folder of each kind."""

Fact = Flag | Algorithm | Model | Rule | CodePath | EnvVar


def facts_of(snapshot: Snapshot, kind: str) -> list[Any]:
    """Return the snapshot's facts of one kind."""
    by_kind: dict[str, list[Any]] = {
        "flag": snapshot.flags,
        "algorithm": snapshot.algorithms,
        "model": snapshot.models,
        "rule": snapshot.rules,
        "path": snapshot.code_paths,
        "env": snapshot.env_vars,
    }
    return by_kind[kind]


def every_fact(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    """Yield each fact with its kind."""
    for kind in KINDS:
        for fact in facts_of(snapshot, kind):
            yield kind, fact


def fact_name(fact: Fact) -> str:
    """Return the name a fact goes by in its id."""
    if isinstance(fact, Model):
        return fact.architecture
    if isinstance(fact, Rule):
        return fact.id.removeprefix("rule:")
    return fact.name


def fact_id(kind: str, fact: Fact) -> str:
    """Return the id of a fact, without a version: ``flag:speculative-num-steps``."""
    return f"{kind}:{fact_name(fact)}"


def rule_group(rule: Rule) -> str:
    """Return the page a rule is on: its group, or the module that holds it."""
    return rule.group or rule.at.path.rpartition("/")[2].removesuffix(".py")


def slug(name: str) -> str:
    """Return ``name`` as a file name and anchor that needs no escaping anywhere."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "unnamed"


def page_of(kind: str, fact: Fact) -> str:
    """Return the fact's page below its version's folder, without suffix: ``flags/tp-size``."""
    stem = rule_group(fact) if isinstance(fact, Rule) else fact_name(fact)
    return f"{FOLDERS[kind]}/{slug(stem)}"


def anchor_of(fact: Fact) -> str:
    """Return the fragment of a fact that shares its page with others."""
    return slug(fact_name(fact))


def address_of(version: str, kind: str, fact: Fact) -> str:
    """Return the fact's address on the site: ``/0.5.23/flags/speculative-num-steps.html``."""
    anchor = f"#{anchor_of(fact)}" if isinstance(fact, Rule) else ""
    return f"/{version}/{page_of(kind, fact)}.html{anchor}"
