"""The version a tree states of itself, read without running it."""

from __future__ import annotations

import ast
import re
import tomllib

from indexer.source.tree import PACKAGE_ROOT, SourceTree

_VERSION_FILES = (f"{PACKAGE_ROOT}/_version.py", f"{PACKAGE_ROOT}/version.py")
_NAMES = {"__version__", "version"}


def stated_version(tree: SourceTree, project: str | None) -> str | None:
    """Return the version in the tree's version file, or in ``project`` (a pyproject.toml or METADATA
    text), or None where it is computed at build time."""
    for path in _VERSION_FILES:
        if path in tree and (found := _assigned(tree.text(path))):
            return found
    if project is None:
        return None
    if header := re.match(r"Metadata-Version:", project):
        header = re.search(r"^Version: *(\S+)", project, re.MULTILINE)
        return header[1] if header else None
    try:
        version = tomllib.loads(project).get("project", {}).get("version")
    except tomllib.TOMLDecodeError:
        return None
    return version if isinstance(version, str) else None


def _assigned(source: str) -> str | None:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    # Only top-level statements: what stands in a try's handlers are fallbacks of unbuilt trees.
    for node in body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if names & _NAMES and isinstance(node.value.value, str):
            return node.value.value
    return None
