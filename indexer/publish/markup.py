"""Small pieces of HTML that stand thousands of times on the site, made without the template engine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from functools import lru_cache

from jinja2.runtime import Macro
from markupsafe import Markup, escape

from indexer.knowledge.schema import Flag, Location, Rule, Value
from indexer.knowledge.values import as_unknown, plain_form, source_form
from indexer.publish.prose import paragraphs

_SHORTENED = ("python/sglang/srt/", "python/sglang/", "python/")
_BREAKABLE = re.compile(r"(?<=[^\s-])[-_/,](?!$)|[a-z](?=[A-Z])")
_CODE = re.compile(r"`([^`]+)`|(?<![\w`-])(--[a-z][a-z0-9-]+)")
_FORMS: dict[str, Callable[[Value], str]] = {"written": source_form, "typed": plain_form}


def short_path(path: str) -> str:
    """Return a path without the part that all have in common: ``arg_groups/fields/spec.py``."""
    for prefix in _SHORTENED:
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


@lru_cache(maxsize=50_000)
def _soft(text: str) -> Markup:
    return Markup(_BREAKABLE.sub(r"\g<0><wbr>", str(escape(text))))


def soft_breaks(text: Value) -> Markup:
    """Return an identifier that may be broken after ``-``, ``_``, ``/``, ``,`` and before humps."""
    return _soft(str(text))


def shell_lines(words: Sequence[str]) -> str:
    """Return a command to paste into a shell: quoted where a shell needs it, one option a line."""
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(shlex.quote(word))
    return " \\\n  ".join(" ".join(line) for line in lines if line)


def citer(permalink: Callable[[Location], str | None]) -> Callable[..., Markup]:
    """Return the function that writes a citation: ``spec.py:58``, linked to the source."""

    @lru_cache(maxsize=50_000)
    def written(at: Location, long: bool) -> Markup:
        shown = f"{_soft(short_path(at.path))}" if long else str(escape(at.path.rpartition("/")[2]))
        lines = f"{at.line}–{at.end_line}" if long and at.end_line not in (None, at.line) else f"{at.line}"
        title = escape(f"{at.path}:{at.line}")
        link = permalink(at)
        if link is None:
            return Markup(f'<span class="cite" title="{title}">{shown}:{lines}</span>')
        return Markup(f'<a class="cite" href="{escape(link)}" title="{title}">{shown}:{lines}</a>')

    def cite(at: Location | None, long: bool = False) -> Markup:
        return Markup("") if at is None else written(at, long)

    return cite


def once_for_each() -> Callable[[Macro, Rule, str], Markup]:
    """Return the function that runs a macro once for each rule and way up: some stand on fifty pages."""
    kept: dict[tuple[str, str, str], Markup] = {}

    def once(macro: Macro, rule: Rule, up: str) -> Markup:
        key = (macro.name, rule.id, up)
        if key not in kept:
            kept[key] = Markup(macro(rule))
        return kept[key]

    return once


def value_markup(value: Value, form: str = "written") -> Markup:
    """Return a value as code, ``unknown`` where it can't be known."""
    unknown = as_unknown(value)
    if unknown:
        return Markup(f'<span class="unknown" title="{escape(unknown.unknown)}">unknown</span>')
    if value is None:
        return Markup('<code class="none">None</code>')
    return Markup(f"<code>{_soft(_FORMS[form](value))}</code>")


def flag_link(up: str, flag: Flag) -> Markup:
    """Return a link to a flag's page; ``up`` is the way to the version's folder."""
    name = _soft(flag.option_strings[0])
    return Markup(f'<a class="flag" href="{up}flags/{escape(flag.name)}.html">{name}</a>')


def prose(text: str) -> Markup:
    """Return a help text as HTML: paragraphs, option strings and quoted code as ``code``."""
    return Markup("".join(f"<p>{_inline(paragraph)}</p>" for paragraph in paragraphs(text)))


def _inline(text: str) -> str:
    out, last = [], 0
    for match in _CODE.finditer(text):
        out += [str(escape(text[last : match.start()])), f"<code>{escape(match[1] or match[2])}</code>"]
        last = match.end()
    return "".join([*out, str(escape(text[last:]))])
