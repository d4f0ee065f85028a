"""The environment variables table and a page per variable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from indexer.knowledge.facts import env_fact
from indexer.knowledge.records import fact_record
from indexer.knowledge.schema import EnvVar
from indexer.publish.pages.flags import reads_by_file
from indexer.publish.site import Page, VersionSite

INDEX = ("Environment", "env/index")


def pages(site: VersionSite) -> Iterator[Page]:
    """Yield the table of variables, then each of them."""
    variables = sorted(site.snapshot.env_vars, key=lambda variable: (not variable.relevance, variable.name))
    if not variables:
        return
    yield Page(
        stem="env/index",
        template="envs.html.j2",
        title="Environment variables",
        description=f"The environment variables SGLang {site.version} declares or reads.",
        data=[fact_record(site.version, "env", variable) for variable in variables],
        facts={
            "variables": variables,
            "facets": [
                {
                    "title": "Matters for",
                    "key": "topic",
                    "values": Counter(
                        topic for variable in variables for topic in variable.relevance
                    ).most_common(),
                },
                {
                    "title": "Type",
                    "key": "type",
                    "values": Counter(
                        variable.type or "not declared" for variable in variables
                    ).most_common(),
                },
            ],
        },
    )
    for variable in variables:
        yield _page(site, variable)


def _page(site: VersionSite, variable: EnvVar) -> Page:
    at = variable.declared_at or next((read.at for read in variable.read_at), None)
    return Page(
        stem=f"env/{variable.name}",
        template="env.html.j2",
        title=variable.name,
        description=f"Environment variable {variable.name} in SGLang {site.version}.",
        data=fact_record(site.version, "env", variable),
        trail=[INDEX],
        facts={
            "variable": variable,
            "is_setting": env_fact(variable).is_setting,
            "excerpt": site.source.excerpt(at) if at else None,
            "reads": reads_by_file(variable.read_at),
            "story": site.story("env", variable.name),
            "cells": [],
            "sets": reads_by_file(variable.set_at),
        },
    )
