"""The words of a message, read from a release that is at hand: none of them are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexer.errors import IndexerError
from indexer.knowledge.messages import MessageHistory, digest
from indexer.knowledge.schema import Location

if TYPE_CHECKING:
    from tree_sitter import Node


class MessageText(NamedTuple):
    """A message's template as ``version`` has it at ``at``, ``{expression}`` where run time fills in;
    ``function`` is the qualified name of the function that says it there."""

    text: str
    version: str
    at: Location
    function: str


def message_text(key: str, kind: str, history: MessageHistory) -> MessageText | None:
    """Return the words of a message from the newest release in the cache that has it, None where none is
    there; nothing is fetched."""
    from indexer.source.wheels import WheelTree, cached_wheel

    for version in reversed(history.releases):
        at = history.place_of(key, version)
        wheel = cached_wheel("sglang", version) if at is not None else None
        if at is None or wheel is None:
            continue
        try:
            tree = WheelTree(wheel, version)
            source = tree.read(at.path)
            tree.close()
        except IndexerError:  # a damaged wheel: another release has the words as well
            continue
        said = _said_at(source, at.line, key, kind)
        if said is not None:
            text, function = said
            return MessageText(text, version, at, function)
    return None


def _said_at(source: bytes, line: int, key: str, kind: str) -> tuple[str, str] | None:
    """Return a message's words on a line, and the function that says them."""
    from indexer.extract.rules.files import FunctionFinder
    from indexer.syntax.parse import parse

    tree = parse(source)
    name = _function_around(tree.root_node, line)
    said = [
        effect
        for function in FunctionFinder(tree, source).read(name)
        for effect in function.effects
        if effect.message is not None and effect.line <= line <= effect.end_line
    ]
    exact = [effect.message for effect in said if digest(kind, effect.message or "") == key]
    found = [*exact, *(effect.message for effect in said if effect.line == line)]
    return next(((text, name) for text in found if text is not None), None)


def _function_around(root: Node, line: int) -> str:
    """Return the qualified name of the innermost function around a line."""
    found = root.descendant_for_point_range((line - 1, 0), (line - 1, 1_000))
    names: list[str] = []
    while found is not None:
        if found.type in ("function_definition", "class_definition"):
            name = found.child_by_field_name("name")
            names.append((name.text or b"").decode() if name is not None else "")
        found = found.parent
    return ".".join(reversed(names))
