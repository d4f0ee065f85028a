"""Makefiles and justfiles: recipes as shell, with their variables."""

from __future__ import annotations

import re

from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import FileLaunches
from indexer.drift.launch.shell import read_shell

_MAKE_VARIABLE = re.compile(
    r"^(?:export[ \t]+|override[ \t]+)*([\w.-]+)[ \t]*(\+|\?|::?|)=[ \t]*((?:\\\n|[^\n#\\]|\\.)*)",
    re.MULTILINE,
)
_MAKE_REFERENCE = re.compile(r"\$\$|\$[({]([\w.-]+)[)}]|\$[({][^)}]*[)}]")
_MAKE_RECIPE = re.compile(r"^\t(?:.*\\\n)*.*$", re.MULTILINE)
_JUST_VARIABLE = re.compile(r"^(?:export[ \t]+)?([\w-]+)[ \t]*:=[ \t]*(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
_JUST_REFERENCE = re.compile(r"\{\{\s*([\w-]*)[^}]*\}\}")
_JUST_BODY = re.compile(r"^(?:[ \t]+.*\n?|[ \t]*\n)+", re.MULTILINE)
_MAX_SUBSTITUTIONS = 6


def read_makefile(text: Located) -> FileLaunches:
    """Read a Makefile: every recipe line is a command of its own, ``$(X)`` is substituted."""
    variables = _make_variables(text)
    found = FileLaunches()
    for match in _MAKE_RECIPE.finditer(text.text):
        if "#" in text.text[match.start() : match.start() + 2]:
            continue
        line = text.cut(match.start() + 1, match.end())
        lead = re.match(r"[ \t]*[@+-]*[ \t]*", line.text)
        line = _without_tabs(line.cut(lead.end() if lead else 0))
        command = _substitute(line, _MAKE_REFERENCE, variables, _MAX_SUBSTITUTIONS)
        more = read_shell(command)
        found.launches += more.launches
        found.settings += more.settings
    used = "".join(text.text[m.start() : m.end()] for m in _MAKE_RECIPE.finditer(text.text))
    for name, value in variables.items():
        if value.text.lstrip().startswith("--") and f"({name})" not in used and f"{{{name}}}" not in used:
            builder = Builder()
            builder.add("_=(", value.at(0))
            builder.add_located(value)
            builder.add(")", value.at(0))
            found.launches += read_shell(builder.done()).launches
    return found


def _make_variables(text: Located) -> dict[str, Located]:
    variables: dict[str, Located] = {}
    for match in _MAKE_VARIABLE.finditer(text.text):
        name, operator = match[1], match[2]
        value = text.cut(match.start(3), match.end(3))
        if operator == "+" and name in variables:
            builder = Builder()
            builder.add_located(variables[name])
            builder.add(" ", value.at(0))
            builder.add_located(value)
            value = builder.done()
        variables[name] = value
    return variables


def _without_tabs(line: Located) -> Located:
    """Drop the tab that begins each continued line of a recipe."""
    if "\n\t" not in line.text:
        return line
    builder, position = Builder(), 0
    for match in re.finditer(r"(?<=\n)\t", line.text):
        builder.add_located(line.cut(position, match.start()))
        position = match.end()
    builder.add_located(line.cut(position))
    return builder.done()


def _substitute(line: Located, pattern: re.Pattern[str], known: dict[str, Located], depth: int) -> Located:
    if depth == 0 or not pattern.search(line.text):
        return line
    builder, position = Builder(), 0
    for match in pattern.finditer(line.text):
        builder.add_located(line.cut(position, match.start()))
        position = match.end()
        name = match[1] if match.lastindex else None
        value = known.get(name or "")
        if match[0] == "$$":
            builder.add("$", line.at(match.start() + 1))
        elif value is not None:
            builder.add_located(_substitute(value, pattern, known, depth - 1))
        else:
            builder.add("$_", line.at(match.start()))
    builder.add_located(line.cut(position))
    return builder.done()


def read_justfile(text: Located) -> FileLaunches:
    """Read a justfile: each recipe's body is one script, ``{{x}}`` is substituted."""
    variables = {
        match[1]: text.cut(match.start(2) + 1, match.end(2) - 1)
        for match in _JUST_VARIABLE.finditer(text.text)
    }
    found = FileLaunches()
    for match in _JUST_BODY.finditer(text.text):
        body = text.cut(match.start(), match.end())
        if "sglang" not in body.text and "--" not in body.text:
            continue
        script = _substitute(_just_lines(body), _JUST_REFERENCE, variables, _MAX_SUBSTITUTIONS)
        more = read_shell(script, variables=variables)
        found.launches += more.launches
        found.settings += more.settings
    return found


def _just_lines(body: Located) -> Located:
    """Drop indentation and the ``@`` and ``-`` that quieten a line."""
    builder, position = Builder(), 0
    for match in re.finditer(r"^[ \t]+(?:@-?|-@?(?!-))?", body.text, re.MULTILINE):
        builder.add_located(body.cut(position, match.start()))
        position = match.end()
    builder.add_located(body.cut(position))
    return builder.done()
