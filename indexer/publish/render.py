"""Pages to files: Jinja2 templates, the JSON twins, and addresses relative to the page."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup, escape

from indexer._resources import data_path
from indexer.knowledge.addresses import anchor_of, page_of, slug
from indexer.knowledge.schema import Location, Value
from indexer.knowledge.values import as_unknown, plain_form, source_form
from indexer.publish.diagram import anchor
from indexer.publish.prose import paragraphs
from indexer.publish.site import Page, VersionSite

_ROOT = "@@SITE-ROOT@@"
"""Stands for the way up to the site's root while a page is rendered once for two places."""

_BREAKABLE = re.compile(r"(?<=[^\s-])[-_/,](?!$)|[a-z](?=[A-Z])")

_SHORTENED = ("python/sglang/srt/", "python/sglang/", "python/")


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
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(
            short=short_path,
            place=place,
            permalink=self.site.source.permalink,
            unknown=as_unknown,
            typed=plain_form,
            written=source_form,
            slug=slug,
            paragraphs=paragraphs,
            prose=prose,
            soft=soft_breaks,
            step_anchor=anchor,
        )
        environment.tests["in_callers"] = lambda how: str(how).startswith("caller")
        environment.globals.update(
            site=self.site, page_of=page_of, anchor_of=anchor_of, fact_flags=self.site.links.flags
        )
        return environment

    def write(self, page: Page, folders: dict[Path, str]) -> None:
        """Write a page and its JSON twin into each of ``folders`` (folder → way up to the root)."""
        up = "../" * page.stem.count("/")
        html = self._templates.get_template(page.template).render(
            page=page, up=up, root=_ROOT, elsewhere=self._elsewhere(page), **page.facts
        )
        twin = msgspec.json.format(msgspec.json.encode(page.data), indent=1) + b"\n"
        for folder, way in folders.items():
            target = folder / f"{page.stem}.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(html.replace(_ROOT, way + up), encoding="utf-8")
            target.with_suffix(".json").write_bytes(twin)

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
        return page.stem in stems or (name == "index" and any(s.startswith(f"{section}/") for s in stems))


def short_path(path: str) -> str:
    """Return a path without the part that all have in common: ``arg_groups/fields/spec.py``."""
    for prefix in _SHORTENED:
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


def place(at: Location) -> str:
    """Return ``spec.py:58`` or ``spec.py:58–61``, the short form of a citation."""
    end = f"–{at.end_line}" if at.end_line and at.end_line != at.line else ""
    return f"{at.path.rpartition('/')[2]}:{at.line}{end}"


@lru_cache(maxsize=50_000)
def _soft(text: str) -> Markup:
    return Markup(_BREAKABLE.sub(r"\g<0><wbr>", str(escape(text))))


def soft_breaks(text: Value) -> Markup:
    """Return an identifier that may be broken after ``-``, ``_``, ``/``, ``,`` and before humps."""
    return _soft(str(text))


def prose(text: str) -> Markup:
    """Return a help text as HTML: paragraphs, option strings and quoted code as ``code``."""
    return Markup("".join(f"<p>{_inline(paragraph)}</p>" for paragraph in paragraphs(text)))


def _inline(text: str) -> str:
    import re

    marked = re.sub(r"`([^`]+)`", "\0\\1\1", text)
    marked = re.sub(r"(?<![\w\0-])(--[a-z][a-z0-9-]+)", "\0\\1\1", marked)
    return str(escape(marked)).replace("\0", "<code>").replace("\1", "</code>")
