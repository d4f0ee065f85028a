"""Reads of launch arguments in one file, before it is known which names are fields.

Every receiver that may be the configuration is looked at: the record under any of its names, the global
getters, resolved views, namespace bags, and locals bound to one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from tree_sitter import Node, Tree

from indexer.syntax.anchors import (
    ancestor,
    anchors,
    enclosing_symbol,
    is_written,
    outermost,
    root_and_source,
    shape,
)
from indexer.syntax.facts import Extractor
from indexer.syntax.nodes import positional_arguments
from indexer.syntax.parse import line, string_value, text

_RECORD = shape("server_args", r"\s*\.\s*[A-Za-z_]")
_DEFAULT = shape("ServerArgs", r"\s*\.\s*[A-Za-z_]")
_GETTER = shape("get_", r"\w+\(\)\s*\.\s*[A-Za-z_]")
_VIEW = shape("resolv", r"(?:ing|ed)_view\(")
_GETATTR = shape("attr(", r"\s*([\w.]+(?:\(\w*\))?)\s*,\s*([\"']?)(\w+)")
_OLD_DICT = shape("global_server_args_dict", r"\b")
_BOUND_RECORD = shape("server_args", r"[ \t]*(?:#.*)?$", flags=re.MULTILINE)
_BOUND_GETTER = shape("get_", r"\w+\(\)((?:\.\w+)*)[ \t]*(?:#.*)?$", flags=re.MULTILINE)
_RECORD_TYPE = shape("ServerArgs", r"\b")
_VIEW_PARAMETER = shape("def", r"\s+\w+\s*\([^)]*?\b(cfg|view|args)\b", flags=re.DOTALL)
_RECORD_CLASS = shape("class", r"\s+(ServerArgs)\b", before=r"\b")
_OWN = tuple(shape(word, r"\s*\.\s*[A-Za-z_]\w*", before=r"(?<![\w.])") for word in ("self", "cls"))
CONFIG_PARAMETER = "config parameter"
"""How a parameter named like a view of the configuration is marked where it may be another one."""
_RECEIVER = re.compile(rb"(server_args|ServerArgs)$|get_\w*server_args\(\)$|^resolv(ing|ed)_view\(")
_RESOLVER = ("/server_args.py", "/arg_groups/", "/runtime_context.py")
_HINTS = (b"server_args", b"ServerArgs", b"get_", b"ing_view", b"ed_view", b"(cfg")


class FlagUse(msgspec.Struct, array_like=True, frozen=True):
    """One possible read. ``chain`` is what follows the receiver (``exec`` bags: ``mamba.x``), ``getter``
    the bag's getter where one is used; ``how`` names the shape. ``lines`` are those of the chain's parts
    as written (what a local already stands for comes before them)."""

    chain: str
    lines: list[int]
    how: str
    getter: str | None
    symbol: str | None


class FlagUses(msgspec.Struct, array_like=True):
    """All possible reads in one file."""

    uses: list[FlagUse]


def find_flag_uses(path: str, source: bytes, tree: Tree) -> FlagUses:
    """Return every expression of a file that may read a launch argument."""
    root = tree.root_node
    found: dict[tuple[str, int], FlagUse] = {}
    for use in (
        *_record_uses(source, root),
        *_getter_uses(source, root),
        *_view_uses(source, root),
        *_dictionary_uses(source, root),
        *_local_uses(path, source, root),
        *_self_uses(source, root),
    ):
        found.setdefault((use.chain, use.lines[-1]), use)
    return FlagUses(sorted(found.values(), key=lambda one: (one.lines, one.chain)))


FLAG_USES = Extractor("flag-uses", find_flag_uses, FlagUses, FlagUses([]), _HINTS)


def _use(node: Node, chain: str, how: str, getter: str | None = None) -> FlagUse:
    return FlagUse(chain, [line(node)], how, getter, enclosing_symbol(node))


def _attribute_name(holder: Node) -> Node | None:
    """Return the attribute node ``X.name`` whose object is ``holder``."""
    around = holder.parent
    if around is not None and around.type == "attribute" and around.child_by_field_name("object") == holder:
        return around
    return None


def _read(holder: Node, how: str, getter: str | None = None) -> Iterator[FlagUse]:
    """Yield the read of what follows a receiver, unless it is written there."""
    attribute = _attribute_name(holder)
    if attribute is None:
        return
    names: list[Node] = []
    last = attribute
    while attribute is not None:
        last = attribute
        names.append(attribute.child_by_field_name("attribute") or attribute)
        attribute = _attribute_name(attribute)
    if not is_written(last):
        chain = ".".join(text(name) for name in names)
        yield FlagUse(chain, [line(name) for name in names], how, getter, enclosing_symbol(holder))


def _receiver(node: Node) -> Node:
    """Return the whole receiver ``self.server_args`` that ends at an identifier."""
    around = node.parent
    if around is not None and around.type == "attribute" and around.child_by_field_name("attribute") == node:
        return around
    return node


def _record_uses(source: bytes, root: Node) -> Iterator[FlagUse]:
    for pattern, how in ((_RECORD, "server_args"), (_DEFAULT, "class default")):
        for _, node in anchors(pattern, source, root):
            if how == "server_args" or text(node) == "ServerArgs":
                yield from _read(_receiver(node), how)


def _getter_uses(source: bytes, root: Node) -> Iterator[FlagUse]:
    for _, node in anchors(_GETTER, source, root):
        call = node.parent
        if call is not None and call.type == "call" and text(node).startswith("get_"):
            yield from _read(call, "getter", text(node))


def _view_uses(source: bytes, root: Node) -> Iterator[FlagUse]:
    for _, node in anchors(_VIEW, source, root):
        if node.parent is not None and node.parent.type == "call":
            yield from _read(node.parent, text(node))


def _dictionary_uses(source: bytes, root: Node) -> Iterator[FlagUse]:
    """Yield reads of the old global dictionary: ``d["x"]`` and ``d.get("x")``."""
    for _, node in anchors(_OLD_DICT, source, root):
        around = node.parent
        if around is not None and around.type == "attribute":
            around = around.parent
        if around is None or around.type not in ("subscript", "call") or is_written(around):
            continue
        keys = [around.child_by_field_name("subscript"), *positional_arguments(around)]
        key = next((one for one in keys if one is not None), None)
        name = string_value(key) if key is not None else None
        if key is not None and name:
            use = _use(node, name, "global_server_args_dict")
            yield msgspec.structs.replace(use, lines=[line(key)])


def _local_uses(path: str, source: bytes, root: Node) -> Iterator[FlagUse]:
    """Yield reads through locals and parameters bound to the configuration, and through ``getattr``."""
    functions: dict[int, tuple[Node, dict[bytes, tuple[str, str | None, str]]]] = {}

    def names_of(node: Node) -> dict[bytes, tuple[str, str | None, str]]:
        function = ancestor(node, "function_definition")
        key = function.id if function else 0
        return functions.setdefault(key, (function or root, {}))[1]

    for name, getter, prefix in _bindings(source, root):
        names_of(name)[name.text or b""] = ("local", getter, prefix)
    for _, node in anchors(_RECORD_TYPE, source, root):
        typed = ancestor(node, "typed_parameter", "typed_default_parameter", "block")
        if typed is not None and typed.type != "block":
            name = typed.child_by_field_name("name") or typed.named_children[0]
            names_of(typed)[name.text or b""] = ("parameter", None, "")
    how = "parameter" if any(part in path for part in _RESOLVER) else CONFIG_PARAMETER
    for match, node in anchors(_VIEW_PARAMETER, source, root, group=1):
        word = match.group(1)
        if ancestor(node, "parameters") is not None and (how == "parameter" or word != b"args"):
            names_of(node).setdefault(word, (how, None, ""))
    for function, names in functions.values():
        for word, (how, getter, prefix) in names.items():
            yield from _name_uses(source, root, function, word, how, getter, prefix)
    yield from _literal_getattr(source, root, {id_: names for id_, (_, names) in functions.items()})


def _bindings(source: bytes, root: Node) -> Iterator[tuple[Node, str | None, str]]:
    """Yield the locals bound to the configuration: (name, bag's getter, what follows the getter)."""
    for pattern in (_BOUND_RECORD, _BOUND_GETTER, _VIEW):
        for match, node in anchors(pattern, source, root):
            value = outermost(node, "attribute", "call")
            left = _bound_name(value)
            if left is None:
                continue
            if pattern is _BOUND_GETTER:
                yield left, text(node), (match.group(1) or b"").decode().lstrip(".")
            elif pattern is _BOUND_RECORD or value == node.parent:
                yield left, None, ""


def _bound_name(value: Node) -> Node | None:
    """Return the name that an assignment gives a value, also in ``a, b = x, y``."""
    around, position = value.parent, -1
    if around is not None and around.type == "expression_list":
        position = next(index for index, one in enumerate(around.named_children) if one == value)
        around = around.parent
    left = around.child_by_field_name("left") if around is not None and around.type == "assignment" else None
    if left is not None and position >= 0:
        names = left.named_children if left.type == "pattern_list" else []
        left = names[position] if position < len(names) else None
    return left if left is not None and left.type == "identifier" and left != value else None


def _name_uses(
    source: bytes, root: Node, function: Node, name: bytes, how: str, getter: str | None, prefix: str
) -> Iterator[FlagUse]:
    word = shape(name.decode(), r"\s*\.\s*[A-Za-z_]\w*", before=r"(?<![\w.])")
    for _, node in anchors(word, source, root, span=(function.start_byte, function.end_byte)):
        for use in _read(node, how, getter):
            yield msgspec.structs.replace(use, chain=f"{prefix}.{use.chain}" if prefix else use.chain)


def _literal_getattr(
    source: bytes, root: Node, functions: dict[int, dict[bytes, tuple[str, str | None, str]]]
) -> Iterator[FlagUse]:
    """Yield ``getattr(server_args, "x")``, with a literal name or one bound to literals nearby."""
    for match, node in anchors(_GETATTR, source, root):
        receiver, quoted, name = match.group(1), match.group(2), match.group(3).decode()
        if text(node) not in ("getattr", "hasattr"):
            continue
        function = ancestor(node, "function_definition")
        local = functions.get(function.id if function else 0, {}).get(receiver)
        if not (local or _RECEIVER.search(receiver)):
            continue
        getter = local[1] if local else None
        prefix = f"{local[2]}." if local and local[2] else ""
        how = text(node)
        if quoted:
            key = root.descendant_for_byte_range(match.start(3), match.start(3) + 1)
            use = _use(node, prefix + name, how, getter)
            yield msgspec.structs.replace(use, lines=[line(key or node)])
        else:
            for literal in _bound_literals(node, name):
                yield _use(node, prefix + literal, f"{how} by name", getter)


def _bound_literals(node: Node, name: str) -> list[str]:
    """Return the strings a name takes: from a ``for`` over literals, or from this file's calls."""
    loop = ancestor(node, "for_statement", "for_in_clause", "function_definition")
    while loop is not None and loop.type != "function_definition":
        left, right = loop.child_by_field_name("left"), loop.child_by_field_name("right")
        if left is not None and right is not None and name in re.findall(r"\w+", text(left)):
            return re.findall(r"[\"'](\w+)[\"']", text(right))
        loop = ancestor(loop, "for_statement", "function_definition")
    function = loop or ancestor(node, "function_definition")
    parameters = function.child_by_field_name("parameters") if function else None
    title = function.child_by_field_name("name") if function else None
    if parameters is None or title is None or not re.search(rf"\b{name}\b", text(parameters)):
        return []
    root, source = root_and_source(node)
    calls = shape(text(title), r"\s*\(", before=r"\b")
    found: list[str] = []
    for _, callee in anchors(calls, source, root):
        call = ancestor(callee, "call")
        if call is not None and call.start_byte <= callee.start_byte:
            arguments = call.child_by_field_name("arguments")
            for child in arguments.named_children if arguments else []:
                value = child.child_by_field_name("value") if child.type == "keyword_argument" else child
                if value is not None and value.type == "string":
                    found.append(text(value).strip("'\""))
    return found


def _self_uses(source: bytes, root: Node) -> Iterator[FlagUse]:
    """Yield ``self.x`` inside the record class itself."""
    for _, title in anchors(_RECORD_CLASS, source, root, group=1):
        owner = title.parent
        if owner is None or owner.type != "class_definition":
            continue
        for word in _OWN:
            for _, node in anchors(word, source, root, span=(owner.start_byte, owner.end_byte)):
                yield from _read(node, "self")
