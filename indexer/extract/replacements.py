"""What the tree's messages say to use instead of an option or a variable.

Only a message whose subject is the old name counts (``--old is deprecated, use --new``): the two names
may stand in one message for many other reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from tree_sitter import Node, Tree

from indexer.extract.file_facts import load_facts
from indexer.knowledge.schema import Location, StatedReplacement
from indexer.syntax.anchors import literals_with
from indexer.syntax.facts import Extractor
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.parse import line
from indexer.syntax.parse import text as node_text

_HINTS = (b"deprecat", b"removed", b"renamed", b"no longer", b"replaced")
_QUOTE = r"[`'\"]?"
_OPTION = r"--[a-z][a-z0-9-]*[a-z0-9]"
_SUBJECT = re.compile(
    rf"(?<![\w-]){_QUOTE}(?P<old>{_OPTION}|[A-Z][A-Z0-9_]{{5,}}){_QUOTE}(?: environment variable)?"
    r" (?:is|was|has been|will be)(?: now)? (?:deprecated|removed|renamed|replaced|no longer supported)"
)
_INSTEAD = re.compile(
    r"(?:\b[Uu]s(?:e|ing)|\b[Ss]et|\b[Pp]ass|\breplaced (?:by|with)|\brenamed to|\bin favou?r of)(?: the)?"
    rf" (?P<quote>[`'\"])?(?P<new>{_OPTION})(?:=(?P<value>[\w.]*\w))?"
    r"(?(quote)(?: (?P<word>[\w.]*\w))?(?P=quote))(?: to [`'\"](?P<to>[\w.]+)[`'\"])?"
)


class Said(msgspec.Struct, array_like=True, frozen=True):
    """One message: the old name, the new option, and the whole of what to write."""

    old: str
    new: str
    text: str
    line: int


class SaidList(msgspec.Struct, array_like=True):
    """All such messages of one file."""

    said: list[Said]


def find_messages(path: str, source: bytes, tree: Tree) -> SaidList:
    """Return the messages of a file that name a replacement."""
    literals = literals_with(_HINTS, source, tree.root_node) if b"--" in source else ()
    found = (said_by(literal_text(node), line(node)) for node in literals if _may_say(node))
    return SaidList([one for one in found if one is not None])


REPLACEMENT_MESSAGES = Extractor("replacement-messages", find_messages, SaidList, SaidList([]), _HINTS)


def _may_say(node: Node) -> bool:
    if node.parent is not None and node.parent.type == "concatenated_string":
        return False  # read as part of the whole
    return b"--" in (node.text or b"")


def literal_text(node: Node) -> str:
    """Return the text of a string literal, its replacement fields as ``{}``."""
    if node.type == "concatenated_string":
        return "".join(literal_text(part) for part in node.named_children)
    return "".join(
        "{}" if part.type == "interpolation" else node_text(part)
        for part in node.named_children
        if part.type in ("string_content", "interpolation")
    )


def said_by(message: str, at_line: int) -> Said | None:
    """Return what a message says to use instead of what, or None."""
    subject = _SUBJECT.search(message)
    found = _stated(message, subject.end()) if subject else None
    if subject is None or found is None or found[0] == subject["old"]:
        return None
    return Said(subject["old"], *found, at_line)


def instead(note: str | None) -> str | None:
    """Return what a note about an old name, which need not stand in it, says to write instead."""
    found = _stated(note, 0) if note else None
    return found[1] if found else None


def _stated(message: str, begin: int) -> tuple[str, str] | None:
    """Return the option that a message says to use, and the whole of what to write."""
    stated = _INSTEAD.search(message, begin)
    if stated is None:
        return None
    if re.match(r" (?:and|or|and/or|with) [`'\"]?--", message[stated.end() :]):
        return None  # several at once: none of them is the replacement
    if stated[0][:2] in ("Us", "us") and re.match(r" to [a-z]", message[stated.end() :]):
        return None  # for a purpose of its own, not in place of the old name
    value = stated["value"] or stated["word"] or stated["to"]
    return stated["new"], _spelled(stated["new"], value)


def _spelled(option: str, value: str | None) -> str:
    return f"{option}={value}" if value else option


def stated_replacements(
    graph: ModuleGraph, options: set[str], facts: dict[str, dict[str, bytes]] | None = None
) -> list[StatedReplacement]:
    """Return what the tree's messages say, where the tree has the new option.

    ``options`` are its option strings, ``facts`` the files' messages where they are at hand.
    """
    facts = facts or load_facts(graph, (REPLACEMENT_MESSAGES,), elsewhere=())
    found: dict[tuple[str, str], StatedReplacement] = {}
    for path, one in _said(facts):
        if one.new in options:
            stated = StatedReplacement(one.old, one.new, Location(path, one.line), one.text)
            found.setdefault((one.old, one.new), stated)
    return list(found.values())


def _said(facts: dict[str, dict[str, bytes]]) -> Iterator[tuple[str, Said]]:
    for path in sorted(facts):
        raw = facts[path].get(REPLACEMENT_MESSAGES.key)
        if raw is not None:
            yield from ((path, one) for one in msgspec.msgpack.decode(raw, type=SaidList).said)
