"""Which option values a release parses as JSON before anything else: broken JSON always stops the launch.

Told by two shapes of its source: a ``type=`` function whose first statement parses its argument, and a
configuration object every server makes, whose constructor parses a parameter that an option is handed to.

``python -m indexer.extract.json_values WHEEL_FOLDER OUT.json`` writes the table that ships.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from tree_sitter import Node

from indexer.source.tree import SourceTree
from indexer.syntax.guards import guarded_statements
from indexer.syntax.parse import line, parse, text


class JsonValues(TypedDict):
    """``types``: names of ``type=`` functions; ``options``: dest → ``path:line`` of where it is parsed."""

    types: list[str]
    options: dict[str, str]


_LOADS = re.compile(r"\b(?:or)?json\.loads\((\w+)\)")
_STORED = re.compile(r"self\.\w+\s*=\s*(?:or)?json\.loads\((\w+)\)$")
_MADE_BY_EVERY_SERVER = ("/srt/configs/model_config.py", "/srt/configs/load_config.py")
_CONSTRUCTORS = ("__init__", "__post_init__")
_ARGUMENTS = r"(?:self\.)?(?:server_args|cfg|get_model\(\))\.(\w+)"
_TYPE_FILES = re.compile(
    r"/srt/(utils/common|utils|utils/__init__|server_args|model_executor/\w*config\w*)\.py$"
)


def json_values(tree: SourceTree) -> JsonValues:
    """Return what a tree parses as JSON."""
    types: set[str] = set()
    parameters: dict[str, str] = {}
    for path in tree.walk():
        if not path.endswith(_MADE_BY_EVERY_SERVER) and not _TYPE_FILES.search(path):
            continue
        source = tree.text(path)
        if "json.loads(" not in source:
            continue
        for function in _functions(parse(source.encode()).root_node):
            if path.endswith(_MADE_BY_EVERY_SERVER):
                parameters |= {name: f"{path}:{at}" for name, at in _parsed_parameters(function)}
            elif (name := _json_type(function)) is not None:
                types.add(name)
    return {"types": sorted(types), "options": dict(sorted(_options(tree, parameters)))}


def _functions(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "function_definition":
            yield child
        elif child.type in ("class_definition", "decorated_definition", "block"):
            yield from _functions(child)


def _name(function: Node) -> str:
    name = function.child_by_field_name("name")
    return text(name) if name is not None else ""


def _json_type(function: Node) -> str | None:
    """Return the name of a function of one parameter that parses it first of all, and lets no broken JSON
    pass: whatever catches the error raises another."""
    parameters, body = function.child_by_field_name("parameters"), function.child_by_field_name("body")
    if parameters is None or body is None or len(parameters.named_children) != 1:
        return None
    statements = [s for s in body.named_children if s.type != "comment" and not _is_docstring(s)]
    first = statements[0] if statements else None
    if first is not None and first.type == "try_statement":
        inner = first.child_by_field_name("body")
        handlers = [child for child in first.named_children if child.type == "except_clause"]
        if inner is None or not all("raise " in text(handler) for handler in handlers):
            return None
        first = inner.named_children[0]
    if first is None or first.type not in ("return_statement", "expression_statement"):
        return None
    match = _LOADS.search(text(first))
    parameter = re.match(r"\w+", text(parameters.named_children[0]))
    return _name(function) if match and parameter and match[1] == parameter[0] else None


def _is_docstring(statement: Node) -> bool:
    return statement.type == "expression_statement" and statement.named_children[0].type == "string"


def _parsed_parameters(function: Node) -> Iterator[tuple[str, int]]:
    """Yield the parameters that a constructor parses whenever they are text, and where."""
    if _name(function) not in _CONSTRUCTORS:
        return
    for guarded in guarded_statements(function):
        match = _STORED.match(text(guarded.statement))
        tests = {text(guard.test) for guard in guarded.guards if guard.holds}
        if match and guarded.certain and tests <= {f"isinstance({match[1]}, str)"}:
            yield match[1], line(guarded.statement)


def _options(tree: SourceTree, parameters: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield ``(dest, where it is parsed)`` for the options that are handed to the parameters."""
    if not parameters:
        return
    handed = re.compile(rf"\b({'|'.join(parameters)})={_ARGUMENTS}\s*[,)]")
    for path in tree.walk():
        if path.endswith(".py") and "/srt/" in path and "/test/" not in path:
            for match in handed.finditer(tree.text(path)):
                yield match[2], parameters[match[1]]


def main(folder: Path, target: Path) -> None:
    """Write what all release wheels in a folder parse as JSON, one line a release, oldest first."""
    from packaging.version import Version

    from indexer.source.release import WheelTree

    wheels = {wheel.name.split("-")[1]: wheel for wheel in folder.glob("sglang-*.whl")}
    lines = [
        f"{json.dumps(version)}: {json.dumps(json_values(WheelTree(wheels[version], version)))}"
        for version in sorted(wheels, key=Version)
    ]
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
