"""Pages to files: Jinja2 templates, the JSON twins, and addresses relative to the page."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from indexer._resources import data_path
from indexer.knowledge.addresses import anchor_of, page_of, slug
from indexer.knowledge.values import as_unknown, plain_form, source_form
from indexer.publish.diagram import anchor
from indexer.publish.markup import (
    citer,
    flag_link,
    once_for_each,
    prose,
    shell_lines,
    short_path,
    soft_breaks,
    value_markup,
)
from indexer.publish.output import link_or_copy
from indexer.publish.site import Page, VersionSite

_ROOT = "@@SITE-ROOT@@"
"""Stands for the way up to the site's root while a page is rendered once for two places."""


_NOT_SHARED = ("drift", "evidence")
"""Parts whose pages are about the version they are in, and are not offered in another one's menu."""


class Renderer:
    """Writes the pages of one version."""

    def __init__(self, site: VersionSite) -> None:
        self.site = site

    @cached_property
    def _templates(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(data_path("site") / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(
            short=short_path,
            unknown=as_unknown,
            typed=plain_form,
            written=source_form,
            shell=shell_lines,
            slug=slug,
            prose=prose,
            soft=soft_breaks,
            step_anchor=anchor,
        )
        environment.tests["in_callers"] = lambda how: str(how).startswith("caller")
        environment.globals.update(
            site=self.site,
            page_of=page_of,
            anchor_of=anchor_of,
            cite=citer(self.site.source.permalink),
            value_of=value_markup,
            once=once_for_each(),
            link_to_flag=flag_link,
        )
        return environment

    def write(self, page: Page, folders: dict[Path, str]) -> None:
        """Write a page and its JSON twin into each of ``folders`` (folder → way up to the root)."""
        up = "../" * page.stem.count("/")
        html = self._templates.get_template(page.template).render(
            page=page, up=up, root=_ROOT, elsewhere=self._elsewhere(page), **page.facts
        )
        first: Path | None = None
        for folder, way in folders.items():
            target = folder / f"{page.stem}.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(html.replace(_ROOT, way + up), encoding="utf-8")
            twin = target.with_suffix(".json")
            if first is None:
                twin.write_bytes(msgspec.json.format(msgspec.json.encode(page.data), indent=1) + b"\n")
                first = twin
            else:
                link_or_copy(first, twin)

    def _elsewhere(self, page: Page) -> list[dict[str, Any]]:
        """Return each version of the site with this page's address there, or its front page."""
        return [
            {
                "version": version,
                "here": version == self.site.version,
                "has": self._has(version, page),
                "stem": f"{version}/{page.stem if self._has(version, page) else 'index'}",
            }
            for version in self.site.versions
        ]

    def _has(self, version: str, page: Page) -> bool:
        if version == self.site.version:
            return True
        section, _, name = page.stem.partition("/")
        stems = self.site.others.get(version, frozenset())
        if not name:
            return True
        if section in _NOT_SHARED:
            return False
        return page.stem in stems or (name == "index" and any(s.startswith(f"{section}/") for s in stems))
