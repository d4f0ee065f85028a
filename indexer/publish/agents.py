"""``llms.txt`` and ``llms-full.txt``: the site for language models."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.knowledge.addresses import every_fact, fact_id, page_of
from indexer.knowledge.schema import Algorithm, EnvVar, Flag, Location, Model, Rule
from indexer.knowledge.values import as_unknown, plain_form, source_form
from indexer.publish.site import VersionSite


def llms_txt(site: VersionSite) -> str:
    """Return the short guide: what is here, and where each part's JSON is."""
    lines = [
        f"# SGLang {site.version}: speculative decoding, from the source",
        "",
        "> Facts read statically from SGLang's source, each with file and line. "
        "A value that can't be known statically says so with its reason.",
        "",
        "Every page `X.html` has a JSON twin `X.json`. Addresses are relative to this file.",
        "",
        "## Parts",
        "",
    ]
    lines += [f"- [{section.title}]({section.stem}.json)" for section in site.sections]
    lines += ["", "## Everything in one file", "", "- [llms-full.txt](llms-full.txt)"]
    lines += ["", "## Versions", ""]
    lines += [
        f"- SGLang {version}" + (" (this one)" if version == site.version else "")
        for version in site.versions
    ]
    return "\n".join(lines) + "\n"


def llms_full_txt(site: VersionSite) -> str:
    """Return every fact, one a line, with its citation."""
    head = [
        f"# SGLang {site.version}: all facts",
        "",
        "Format: id | facts | cited path:line | page",
        "",
    ]
    return "\n".join([*head, *_lines(site)]) + "\n"


def _lines(site: VersionSite) -> Iterator[str]:
    for kind, fact in every_fact(site.snapshot):
        told, at = _told(fact)
        cited = f"{at.path}:{at.line}" if at else "not cited"
        yield f"- {fact_id(kind, fact)} | {told} | {cited} | {page_of(kind, fact)}.html"


def _told(fact: object) -> tuple[str, Location | None]:
    if isinstance(fact, Flag):
        parts = [", ".join(fact.option_strings), f"default {_value(fact.default)}"]
        if isinstance(fact.choices, list) and fact.choices:
            parts.append("choices " + ", ".join(map(plain_form, fact.choices)))
        if fact.deprecated:
            parts.append(f"deprecated, use {fact.deprecated.replacement or 'nothing'}")
        if isinstance(fact.help, str):
            parts.append(" ".join(fact.help.split()))
        return "; ".join(parts), fact.declared_at or fact.registered_at
    if isinstance(fact, Rule):
        pairs = zip(fact.targets, [*fact.values, *[""] * len(fact.targets)], strict=False)
        sets = ", ".join(f"{target} = {value}" if value else target for target, value in pairs)
        guard = " and ".join(("" if c.holds else "not ") + c.text for c in fact.guard)
        parts = [fact.kind, fact.message or "", sets, f"when {guard}" if guard else ""]
        return "; ".join(" ".join(part.split()) for part in parts if part), fact.at
    if isinstance(fact, Algorithm):
        workers = ", ".join(dict.fromkeys(worker.class_name for worker in fact.workers))
        aliases = ", ".join(alias.name for alias in fact.aliases)
        return f"aliases {aliases or 'none'}; workers {workers or 'not recorded'}", fact.declared_at
    if isinstance(fact, Model):
        hybrid = f"hybrid {fact.hybrid.get('kind', '')}" if fact.hybrid else "not hybrid"
        return f"{hybrid}; {'has' if fact.draft else 'no'} draft class", fact.declared_at
    if isinstance(fact, EnvVar):
        reads = len(fact.read_at)
        return (
            f"{fact.type or 'not declared'}, default {_value(fact.default)}, {reads} reads",
            fact.declared_at,
        )
    return str(getattr(fact, "title", "")), None


def _value(value: object) -> str:
    unknown = as_unknown(value)
    return f"unknown ({unknown.unknown})" if unknown else source_form(value)
