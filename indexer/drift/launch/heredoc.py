"""Here-documents: what is in them, and in which language it is."""

from __future__ import annotations

import re

from tree_sitter import Node

from indexer.drift.launch.fields import drop
from indexer.drift.launch.located import Located

_ESCAPED = re.compile(r"\\(?=[$`\\])")


def heredoc_content(node: Node, text: Located) -> Located | None:
    """Return what a ``heredoc_redirect`` holds, None where it holds nothing. Where the word that ends it
    isn't quoted, the shell takes backslashes away."""
    body = next((c for c in node.named_children if c.type == "heredoc_body"), None)
    if body is None:
        return None
    begin = node.start_byte + text.text[node.start_byte : body.start_byte].rfind("\n") + 1
    content = text.cut(max(begin, 0), body.end_byte)
    start = next((c for c in node.named_children if c.type == "heredoc_start"), None)
    if start is not None and text.text[start.start_byte : start.start_byte + 1] not in ("'", '"', "\\"):
        content = drop(content, _ESCAPED)
    return content


def descend(node: Node) -> list[Node]:
    found, stack = [], list(node.named_children)
    while stack:
        child = stack.pop()
        found.append(child)
        stack += child.named_children
    return found


_SHELL = re.compile(r"\b(ba|z|da|k)?sh\b|\bssh\b|\bsrun\b|\bsbatch\b|\bdocker\b")
_PYTHON = re.compile(r"\bpython[\d.]*\b")
_PYTHON_LAST = re.compile(r"\bpython[\d.]*(\s+-)?\s*$")
_TEE = re.compile(r"\btee\s+(?:-\w+\s+)*([^\s|>]+)")


def commands_behind(node: Node) -> list[Node]:
    """Return the commands that stand behind ``<<EOF`` in its line: ``| bash``, ``&& done``."""
    return [c for c in node.named_children if not c.type.startswith("heredoc") and "redirect" not in c.type]


def is_shell(command: str) -> bool:
    """Whether a command reads a script from its standard input."""
    return re.match(r"(?:sudo\s+)?(?:ssh|(?:/\S*/)?(?:ba|z|da|k)?sh)(?:\s|$)", command) is not None


def heredoc_kind(said: str, target: str) -> str | None:
    """Return the language of a here-document from the commands and the file it goes to."""
    tee = _TEE.search(said)
    name = (target or (tee[1] if tee else "")).strip("> \"'").rsplit("/", 1)[-1].lower()
    if name.endswith((".yaml", ".yml", ".json")) or re.search(r"\bkubectl\b|\bhelm\b", said):
        return "yaml"
    if name.endswith(".py") or _PYTHON_LAST.search(said):
        return "python"
    if "dockerfile" in name or re.search(r"\bdocker build\b", said):
        return "dockerfile"
    if name.endswith(".service"):
        return "systemd"
    if name or _SHELL.search(said):
        return "shell"
    if _PYTHON.search(said):
        return "python"
    return "dockerfile" if re.search(r"-f\s*-", said) else None
